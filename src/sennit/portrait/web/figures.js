// Parts as the graphics processor has them: shapes that are made once, and two textures, written anew in each frame, from
// which vertex shaders place them. A shape for all tubes and surfaces, one for each form of solids that occurs more than
// once, one for all others: ten thousand parts are a handful of calls.
const SIDES = 12; // of a round tube
const ROLES_IN_THE_WAY = new Set(["decor"]); // they count for the room as far as they are near the rest

class Figures extends Graphics {
  constructor(canvas, options) {
    super(canvas, options);
    this.parts = [];
    this.groups = [];
    this.moved = true; // whether something was placed since shadows were drawn
    this.partTexture = this.texture();
    this.stationTexture = this.texture();
    this.rampTexture = this.texture(this.gl.LINEAR);
    this.paint(null);
    this.cast([], new ArrayBuffer(0));
  }

  // ---------------------------------------------------------------------------------------------------- the cast
  cast(parts, raw) {
    const rows = (texels) => new Float32Array(4 * ROW * Math.max(1, Math.ceil(texels / ROW)));
    this.parts = parts.map((part) => ({ ...part }));
    this.partData = rows(PART_TEXELS * parts.length);
    let stations = 0;
    for (const [number, part] of this.parts.entries()) {
      part.number = number;
      part.shown = false;
      if (part.kind !== "solid") {
        part.first = stations;
        stations += part.count;
      }
      if (part.kind === "surface") part.indices = new Uint32Array(raw, ...part.faces);
      this.describe(part);
    }
    this.stationData = rows(STATION_TEXELS * stations);
    for (const group of this.groups) this.forget(group.shape);
    this.forget(this.bent?.shape);
    this.groups = this.solidGroups(raw);
    this.bent = this.bentShape();
  }

  describe(part) {  // what the textures say of a part in every frame
    const at = 4 * PART_TEXELS * part.number;
    const half = part.half || [0, 0], kind = { solid: 0, tube: 1, surface: 2 }[part.kind];
    const mode = !part.stripe ? 0 : !part.rectangular ? 1 : half[0] < half[1] ? 2 : 3;
    this.partData.set([0, 0, 0, 1], at + 4);
    this.partData.set([...part.colour.map((c) => c / 255), part.opacity], at + 8);
    this.partData.set([Math.min(...half), LOOKS[part.look] ?? 0, part.rough ?? 0.6, kind], at + 12);
    this.partData.set([...(part.stripe || [0, 0, 0]).map((c) => c / 255), mode], at + 16);
    this.partData.set([part.metal ?? 0, part.role === "decor" ? 1 : 0], at + 20);
  }

  solidGroups(raw) {
    // Parts of one shape are drawn by one call, as instances; shapes that occur once are joined to one; what is seen
    // through is drawn after all else.
    const shapes = new Map(), single = [], glass = [], groups = [];
    for (const part of this.parts) {
      if (part.kind !== "solid") continue;
      const key = part.corners[0];
      if (part.opacity < 1) glass.push(part);
      else if (shapes.has(key)) shapes.get(key).push(part);
      else shapes.set(key, [part]);
    }
    const joined = (members) => {
      const size = members.reduce((sum, part) => sum + part.corners[1] / 3, 0);
      const place = new Float32Array(3 * size), normal = new Float32Array(3 * size);
      const colour = new Uint8Array(4 * size), owner = new Float32Array(size);
      let at = 0;
      for (const part of members) {
        const count = part.corners[1] / 3;
        place.set(new Float32Array(raw, ...part.corners), 3 * at);
        normal.set(new Float32Array(raw, ...part.normals), 3 * at);
        if (part.colours) colour.set(new Uint8Array(raw, ...part.colours), 4 * at);
        owner.fill(part.number, at, at + count);
        at += count;
      }
      return { size, place, normal, colour, owner };
    };
    for (const members of shapes.values()) {
      if (members.length < 2) {
        single.push(...members);
        continue;
      }
      const m = joined(members.slice(0, 1)), owners = new Float32Array(members.map((part) => part.number));
      const shape = this.shape([[0, 3, m.place], [1, 3, m.normal], [2, 4, m.colour], [3, 1, owners, 1]]);
      groups.push({ shape, size: m.size, instances: members.length, glass: false });
    }
    glass.sort((a, b) => b.opacity - a.opacity);
    for (const members of [single, glass]) {
      if (!members.length) continue;
      const m = joined(members);
      const shape = this.shape([[0, 3, m.place], [1, 3, m.normal], [2, 4, m.colour], [3, 1, m.owner]]);
      groups.push({ shape, size: m.size, instances: 0, glass: members === glass });
    }
    return groups;
  }

  bentShape() {
    // All tubes and surfaces in one shape; the faces of what is seen through come last.
    const bent = this.parts.filter((part) => part.kind !== "solid").sort((a, b) => b.opacity - a.opacity);
    const outlines = bent.map(outlineOf);
    const sizes = bent.map((part, k) =>
      part.kind === "surface" ? part.count : (part.count + (part.closed ? 0 : 2)) * outlines[k].length);
    const size = sizes.reduce((sum, x) => sum + x, 0);
    if (!size) return { shape: null, opaque: 0, total: 0 };
    const corner = new Float32Array(4 * size), across = new Float32Array(2 * size), whose = new Float32Array(3 * size);
    const faces = [];
    let vertex = 0, opaque = 0, total = 0;
    const put = (part, station, cap, [x, y, nx, ny, ax, ay]) => {
      corner.set([x, y, nx, ny], 4 * vertex);
      across.set([ax, ay], 2 * vertex);
      whose.set([part.number, part.first + station, cap], 3 * vertex);
      vertex++;
    };
    for (const [k, part] of bent.entries()) {
      const start = vertex, own = facesOf(part, outlines[k].length).map((v) => v + start);
      if (part.kind === "surface") for (let i = 0; i < part.count; i++) put(part, i, 0, [0, 0, 0, 0, 0, 0]);
      else {
        for (let i = 0; i < part.count; i++) for (const c of outlines[k]) put(part, i, 0, c);
        if (!part.closed) {
          for (const c of outlines[k]) put(part, 0, -1, c);
          for (const c of outlines[k]) put(part, part.count - 1, 1, c);
        }
      }
      faces.push(own);
      total += own.length;
      if (part.opacity >= 1) opaque += own.length;
    }
    const indices = new Uint32Array(total);
    let at = 0;
    for (const own of faces) {
      indices.set(own, at);
      at += own.length;
    }
    return { shape: this.shape([[0, 4, corner], [1, 2, across], [2, 3, whose]], indices), opaque, total };
  }

  // ---------------------------------------------------------------------------------------------------- one frame
  place(number, block) {
    const part = this.parts[number], at = 4 * PART_TEXELS * number, seen = this.partData;
    part.shown = block[0] > 0.5;
    part.block = block;
    this.moved = true;
    seen[at + 3] = part.shown ? (part.role === "tie" ? 0.5 : 1) : 0;
    if (!part.shown) return;
    if (part.kind === "solid") {
      seen.set([block[1], block[2], block[3]], at);
      seen.set([block[5], block[6], block[7], block[4]], at + 4);
    } else if (part.kind === "tube") this.bendTube(part, block);
    else this.bendSurface(part, block);
    if (part.kind !== "solid") this.level(part);
  }

  bendTube(part, block) {
    const n = part.count, out = this.stationData, least = Math.min(...part.half);
    let tx = 1, ty = 0, tz = 0, along = 0;
    for (let i = 0; i < n; i++) {
      const wrap = part.closed && (i === 0 || i === n - 1);
      const a = 1 + 3 * (wrap ? n - 2 : Math.max(i - 1, 0)), b = 1 + 3 * (wrap ? 1 : Math.min(i + 1, n - 1));
      const c = 1 + 3 * i, d = c + 3 * n, at = 4 * STATION_TEXELS * (part.first + i);
      const x = block[b] - block[a], y = block[b + 1] - block[a + 1], z = block[b + 2] - block[a + 2];
      const step = Math.hypot(x, y, z);
      if (step > 1e-12) {
        tx = x / step;
        ty = y / step;
        tz = z / step;
      }
      if (i) {
        const wide = least * (part.widths ? 0.5 * (part.widths[i] + part.widths[i - 1]) : 1);
        along += Math.hypot(block[c] - block[c - 3], block[c + 1] - block[c - 2], block[c + 2] - block[c - 1]) / wide;
      }
      // the director, made perpendicular
      let dx = block[d], dy = block[d + 1], dz = block[d + 2];
      const slant = dx * tx + dy * ty + dz * tz;
      dx -= slant * tx;
      dy -= slant * ty;
      dz -= slant * tz;
      const size = Math.hypot(dx, dy, dz) || 1;
      out[at] = block[c];
      out[at + 1] = block[c + 1];
      out[at + 2] = block[c + 2];
      out[at + 3] = along;
      out[at + 4] = dx / size;
      out[at + 5] = dy / size;
      out[at + 6] = dz / size;
      out[at + 8] = tx;
      out[at + 9] = ty;
      out[at + 10] = tz;
      out[at + 11] = part.widths ? part.widths[i] : 1;
    }
  }

  bendSurface(part, block) {
    const out = this.stationData, f = part.indices, stride = 4 * STATION_TEXELS, first = stride * part.first;
    for (let i = 0; i < part.count; i++) {
      const at = first + stride * i;
      out[at] = block[1 + 3 * i];
      out[at + 1] = block[2 + 3 * i];
      out[at + 2] = block[3 + 3 * i];
      out[at + 4] = out[at + 5] = out[at + 6] = 0;
    }
    for (let i = 0; i < f.length; i += 3) {
      const a = first + stride * f[i], b = first + stride * f[i + 1], c = first + stride * f[i + 2];
      const x = out[b] - out[a], y = out[b + 1] - out[a + 1], z = out[b + 2] - out[a + 2];
      const u = out[c] - out[a], v = out[c + 1] - out[a + 1], w = out[c + 2] - out[a + 2];
      const nx = y * w - z * v, ny = z * u - x * w, nz = x * v - y * u;
      for (const at of [a, b, c]) {
        out[at + 4] += nx;
        out[at + 5] += ny;
        out[at + 6] += nz;
      }
    }
  }

  valuesOf(part, field = this.field) {  // of a field along a part in the frame that was placed last; null: it has none
    const k = field && part.fields && part.block ? part.fields.indexOf(field) : -1;
    if (k < 0) return null;
    const from = 1 + (part.kind === "tube" ? 6 : 3) * part.count + k * part.count;
    return part.block.subarray(from, from + part.count);
  }

  level(part) {
    const values = this.valuesOf(part), stride = 4 * STATION_TEXELS, first = stride * part.first;
    const wide = this.high - this.low || 1;
    for (let i = 0; i < part.count; i++) {
      const level = values ? (values[i] - this.low) / wide : -1;
      this.stationData[first + stride * i + 7] = level >= 0 ? Math.min(level, 1) : values && level < 0 ? 0 : -1;
    }
  }

  paint(field, low = 0, high = 1, ramp = null) {
    const gl = this.gl;
    this.field = field;
    this.low = low;
    this.high = high;
    if (ramp) {
      const pixels = new Uint8Array(4 * 256).fill(255);
      for (let i = 0; i < 256; i++) for (let j = 0; j < 3; j++) pixels[4 * i + j] = ramp[3 * i + j];
      gl.bindTexture(gl.TEXTURE_2D, this.rampTexture);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    }
    for (const part of this.parts) if (part.kind !== "solid" && part.block) this.level(part);
  }

  fields() {
    return [...new Set(this.parts.flatMap((part) => part.fields || []))];
  }

  rangeOf(field) {  // lowest and highest value of a field in the frame that was placed last, with 0 between them
    let low = 0, high = 0;
    for (const part of this.parts) {
      const values = part.shown ? this.valuesOf(part, field) : null;
      if (values) {
        for (const value of values) {
          if (value < low) low = value;
          if (value > high) high = value;
        }
      }
    }
    return [low, high];
  }

  bounds() {
    const all = [[], []];
    for (const part of this.parts) {
      const box = part.shown ? boxOf(part) : null;
      if (box) all[ROLES_IN_THE_WAY.has(part.role) ? 1 : 0].push(box);
    }
    if (!all[0].length) all[0] = all[1].length ? all[1] : [[[-0.5, -0.5, -0.5], [0.5, 0.5, 0.5]]];
    const join = (boxes) => [0, 1].map((end) =>
      [0, 1, 2].map((i) => boxes.reduce((x, box) => (end ? Math.max(x, box[1][i]) : Math.min(x, box[0][i])), end ? -Infinity : Infinity)));
    const [low, high] = join(all[0]);
    const corners = (boxes) => (boxes.length > 400 ? [join(boxes)] : boxes).flatMap((box) =>
      [0, 1, 2, 3, 4, 5, 6, 7].map((k) => [box[k & 1][0], box[(k >> 1) & 1][1], box[(k >> 2) & 1][2]]));
    return [low, high, corners(all[0]), corners(all[1])];
  }

  // ------------------------------------------------------------------------------------------------ drawing them
  drawSolids(shading, glass) {
    const gl = this.gl;
    gl.useProgram(shading.p);
    for (const group of this.groups) {
      if (group.glass !== glass) continue;
      gl.bindVertexArray(group.shape.vao);
      if (group.instances) gl.drawArraysInstanced(gl.TRIANGLES, 0, group.size, group.instances);
      else gl.drawArrays(gl.TRIANGLES, 0, group.size);
    }
  }

  drawBent(shading, glass) {
    const gl = this.gl, { shape, opaque, total } = this.bent, count = glass ? total - opaque : opaque;
    if (!count) return;
    gl.useProgram(shading.p);
    gl.bindVertexArray(shape.vao);
    gl.drawElements(gl.TRIANGLES, count, gl.UNSIGNED_INT, glass ? 4 * opaque : 0);
  }
}
