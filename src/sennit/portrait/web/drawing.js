// Draws parts (sennit.portrait.parts) with WebGL 2. The page, the replay player and films in notebooks share this file.
//
//   const drawing = new Drawing(canvas, { software })  throws an Error that says why where there is no WebGL 2
//   Drawing.inSoftware()                               whether this browser draws without a graphics processor
//   drawing.cast(parts, raw)                           what never changes: `parts` and `raw` as portrait/packed.py makes
//                                                      them; whatever was there before is gone
//   drawing.place(number, block)                       one part in one frame: a Float32Array as portrait/parts.py lays
//                                                      it out (shown, then places); nothing is drawn yet
//   drawing.paint(field, low, high, ramp)              colour by the field of that name from `low` to `high`; `ramp`:
//                                                      256 colours (768 bytes); paint(null): the bodies' own colours
//   drawing.room(low, high, ground)                    the box that light and shadows are for, and where the ground is
//   drawing.draw(look)                                 draws all of it; look: {dark, ground, shadows, ties, fine}; fine: as
//                                                      well as can be, for a picture that stays (in software else coarser)
//   drawing.sharpness                                  share of the pixels, in each direction, of what is not fine
//   drawing.grid                                       distance of the lines on the ground, m
//   drawing.camera                                     see Camera below: orbit, pan, zoom, fit, look, ray, pixelOf
//   drawing.parts                                      descriptions; `shown` says whether a part is seen now
//   drawing.bounds()                                   box round what is shown, as [low, high, corners of parts' boxes]
//   drawing.fields()                                   names of the fields that some part carries
//
// Nothing is drawn between two calls of `draw`, and `draw` draws what `place` was last told of every part: a picture is
// of one moment. Vertices are never moved by this script: each frame writes poses and stations into two textures, from
// which the vertex shaders place them; ten thousand parts are a handful of calls. Lengths in m, z is up, angles in rad.

const SIDES = 12; // of a round tube
const SUN = unit([-0.42, -0.5, 0.78]);
const ROLES_IN_THE_WAY = new Set(["decor"]); // they count for the room as far as they are near the rest
const UNDER = 1.4; // half of the width of what contact darkens, in radii of the room

class Drawing {
  constructor(canvas, { software = false } = {}) {
    const gl = canvas.getContext("webgl2", {
      antialias: !software, alpha: true, powerPreference: "high-performance",
    });
    if (!gl) throw new Error("This browser can't draw in three dimensions: it has no WebGL 2, or it is switched off.");
    this.gl = gl;
    this.canvas = canvas;
    this.software = software;
    this.camera = new Camera(canvas);
    this.parts = [];
    this.groups = [];
    this.field = null;
    this.mapSize = software ? 1024 : 2048;
    this.nearSize = software ? 128 : 256;
    this.soft = software ? 1 : 2; // how shadows are drawn, see LIGHT
    this.moved = true; // whether something was placed since shadows were drawn
    this.sharpness = 1;
    this.drawn = 0; // pictures
    this.solidShading = this.program(SOLID_VERTEX, FRAGMENT);
    this.bentShading = this.program(BENT_VERTEX, FRAGMENT);
    this.solidDepth = this.program(SOLID_VERTEX, DEPTH_FRAGMENT);
    this.bentDepth = this.program(BENT_VERTEX, DEPTH_FRAGMENT);
    this.solidNear = this.program(SOLID_VERTEX, NEAR_FRAGMENT);
    this.bentNear = this.program(BENT_VERTEX, NEAR_FRAGMENT);
    this.blurring = this.program(SKY_VERTEX, BLUR_FRAGMENT);
    this.groundShading = this.program(GROUND_VERTEX, GROUND_FRAGMENT);
    this.skyShading = this.program(SKY_VERTEX, SKY_FRAGMENT);
    this.groundShape = this.shape([[0, 2, new Float32Array([-1, -1, 1, -1, 1, 1, -1, -1, 1, 1, -1, 1])]]);
    this.skyShape = this.shape([[0, 2, new Float32Array([-1, -1, 3, -1, -1, 3])]]);
    this.partTexture = this.texture();
    this.stationTexture = this.texture();
    this.rampTexture = this.texture(gl.LINEAR);
    this.paint(null);
    this.makeShadowMap();
    this.makeNearness();
    this.cast([], new ArrayBuffer(0));
    this.room([-0.5, -0.5, -0.5], [0.5, 0.5, 0.5], null);
  }

  static inSoftware() {
    const gl = document.createElement("canvas").getContext("webgl2");
    if (!gl) return true;
    const info = gl.getExtension("WEBGL_debug_renderer_info");
    const name = info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
    gl.getExtension("WEBGL_lose_context")?.loseContext();
    return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
  }

  // ------------------------------------------------------------------------------------------------- small WebGL
  program(vertex, fragment) {
    const gl = this.gl, p = gl.createProgram(), at = {};
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
        throw new Error(`This browser refuses to draw: ${gl.getShaderInfoLog(shader)}`);
      }
      gl.attachShader(p, shader);
    }
    gl.linkProgram(p);
    for (let k = 0; k < gl.getProgramParameter(p, gl.ACTIVE_UNIFORMS); k++) {
      const name = gl.getActiveUniform(p, k).name;
      at[name] = gl.getUniformLocation(p, name);
    }
    return { p, at };
  }

  shape(attributes, indices = null) {  // rows of: location, numbers a vertex, data, divisor
    const gl = this.gl, vao = gl.createVertexArray(), buffers = [];
    gl.bindVertexArray(vao);
    for (const [location, size, data, divisor] of attributes) {
      const buffer = gl.createBuffer(), bytes = data instanceof Uint8Array;
      buffers.push(buffer);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(location);
      gl.vertexAttribPointer(location, size, bytes ? gl.UNSIGNED_BYTE : gl.FLOAT, bytes, 0, 0);
      if (divisor) gl.vertexAttribDivisor(location, divisor);
    }
    if (indices) {
      buffers.push(gl.createBuffer());
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers[buffers.length - 1]);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
    }
    gl.bindVertexArray(null);
    return { vao, buffers };
  }

  forget(shape) {
    if (!shape) return;
    for (const buffer of shape.buffers) this.gl.deleteBuffer(buffer);
    this.gl.deleteVertexArray(shape.vao);
  }

  texture(filter = this.gl.NEAREST) {
    const gl = this.gl, texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    for (const [name, value] of [
      [gl.TEXTURE_MIN_FILTER, filter], [gl.TEXTURE_MAG_FILTER, filter], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
      [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
    ]) gl.texParameteri(gl.TEXTURE_2D, name, value);
    return texture;
  }

  upload(texture, data) {  // data: rows of ROW texels
    const gl = this.gl, rows = data.length / (4 * ROW);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    if (texture.rows !== rows) {
      texture.rows = rows;
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, ROW, rows, 0, gl.RGBA, gl.FLOAT, data);
    } else gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, ROW, rows, gl.RGBA, gl.FLOAT, data);
  }

  makeShadowMap() {
    const gl = this.gl, size = this.mapSize;
    this.shadowMap = this.texture(gl.LINEAR);
    gl.texImage2D(
      gl.TEXTURE_2D, 0, gl.DEPTH_COMPONENT24, size, size, 0, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, null,
    );
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL);
    this.shadowFrame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowFrame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.shadowMap, 0);
    gl.drawBuffers([gl.NONE]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  makeNearness() {  // a picture from below of how near things are to the ground, and room to blur it
    const gl = this.gl, size = this.nearSize;
    this.near = [0, 1].map(() => {
      const texture = this.texture(gl.LINEAR), frame = gl.createFramebuffer(), depth = gl.createRenderbuffer();
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.R8, size, size, 0, gl.RED, gl.UNSIGNED_BYTE, null);
      gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
      gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
      gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT16, size, size);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
      return { texture, frame };
    });
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.plainSampler = gl.createSampler(); // reads depths where `map` compares them
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.samplerParameteri(this.plainSampler, name, gl.NEAREST);
    gl.bindSampler(4, this.plainSampler);
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
        along += Math.hypot(block[c] - block[c - 3], block[c + 1] - block[c - 2], block[c + 2] - block[c - 1]) / least;
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
    const [low, high] = join(all[0]), corners = [];
    const boxes = all[0].length > 400 ? [[low, high]] : all[0];
    for (const box of boxes) {
      for (let k = 0; k < 8; k++) corners.push([box[k & 1][0], box[(k >> 1) & 1][1], box[(k >> 2) & 1][2]]);
    }
    return [low, high, corners];
  }

  // ------------------------------------------------------------------------------------------------- the picture
  room(low, high, ground) {
    this.middle = low.map((x, i) => (x + high[i]) / 2);
    this.radius = Math.max(norm(minus(high, low)) / 2, 1e-6);
    this.camera.size = 2 * this.radius;
    this.moved = true;
    this.groundHeight = ground ?? low[2] - 0.04 * this.radius;
    this.reach = 14 * this.radius;
    this.grid = 10 ** Math.round(Math.log10(this.radius / 5));
    const from = plus(this.middle, SUN, 3 * this.radius);
    this.lightView = times(
      parallel(1.25 * this.radius, 0.5 * this.radius, 6 * this.radius), looking(from, this.middle),
    );
  }

  draw(look = {}) {
    const gl = this.gl, canvas = this.canvas, { dark = false, ground = true, shadows = true, ties = true, fine = false } = look;
    this.drawn++;
    if (gl.isContextLost()) return;
    const ratio = (fine ? 1 : this.sharpness) * Math.min(devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    if (this.moved) {
      gl.activeTexture(gl.TEXTURE1);
      this.upload(this.partTexture, this.partData);
      gl.activeTexture(gl.TEXTURE2);
      this.upload(this.stationTexture, this.stationData);
    }
    this.bind([null, this.partTexture, this.stationTexture, this.rampTexture, null, null]);
    gl.enable(gl.DEPTH_TEST);
    if (shadows && (this.moved || this.shadowed !== ties)) {
      this.drawShadows(ties);
      if (ground) this.drawNearness(ties);
      this.shadowed = ties;
    }
    if (shadows) this.moved = false;
    this.bind([this.shadowMap, this.partTexture, this.stationTexture, this.rampTexture, this.shadowMap, this.near[0].texture]);
    const smooth = fine ? this.smoothFrame(width, height) : null;
    gl.bindFramebuffer(gl.FRAMEBUFFER, smooth);
    const { eye, distance } = this.camera, far = distance + 3 * this.reach;
    const view = this.camera.projection(Math.max(distance / 200, far / 1e5), far);
    const soft = !shadows ? 0 : fine ? 2 : this.soft;
    gl.viewport(0, 0, width, height);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    for (const shading of [this.solidShading, this.bentShading]) {
      this.prepare(shading, view, dark, soft, ties);
      gl.uniform3fv(shading.at.eye, eye);
      gl.uniform1i(shading.at.painted, this.field ? 1 : 0);
      gl.uniform1i(shading.at.ramp, 3);
      gl.uniform1f(shading.at.pixel, (2 * Math.tan(FIELD_OF_VIEW / 2)) / height);
    }
    this.drawSolids(this.solidShading, false);
    this.drawBent(this.bentShading, false);
    // what lies behind comes after: it is computed where it is seen only
    if (ground && eye[2] > this.groundHeight) this.drawGround(view, dark, soft, eye);
    this.drawSky(dark, width / height);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    this.drawSolids(this.solidShading, true);
    this.drawBent(this.bentShading, true);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    gl.bindVertexArray(null);
    if (!smooth) return;
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, smooth);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
    gl.blitFramebuffer(0, 0, width, height, 0, 0, width, height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  finish() {  // waits until everything is drawn
    this.gl.readPixels(0, 0, 1, 1, this.gl.RGBA, this.gl.UNSIGNED_BYTE, new Uint8Array(4));
  }

  bind(textures) {
    const gl = this.gl;
    for (const [unit, texture] of textures.entries()) {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, texture);
    }
    gl.activeTexture(gl.TEXTURE0);
  }

  smoothFrame(width, height) {  // room for a picture whose edges are smoothed, as a graphics processor does by itself
    const gl = this.gl;
    if (this.smooth?.width === width && this.smooth?.height === height) return this.smooth.frame;
    if (this.smooth) {
      gl.deleteFramebuffer(this.smooth.frame);
      this.smooth.buffers.forEach((buffer) => gl.deleteRenderbuffer(buffer));
    }
    const frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    const buffers = [[gl.RGBA8, gl.COLOR_ATTACHMENT0], [gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT]].map(([format, where]) => {
      const buffer = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
      gl.renderbufferStorageMultisample(gl.RENDERBUFFER, 4, format, width, height);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, where, gl.RENDERBUFFER, buffer);
      return buffer;
    });
    this.smooth = { frame, buffers, width, height };
    return frame;
  }

  prepare(shading, view, dark, soft, ties) {
    const gl = this.gl, at = shading.at, [x, y] = this.middle;
    gl.useProgram(shading.p);
    gl.uniformMatrix4fv(at.view, false, view);
    gl.uniformMatrix4fv(at.lightView, false, this.lightView);
    gl.uniform1f(at.texelSize, 1 / this.mapSize);
    gl.uniform1i(at.soft, soft);
    gl.uniform1f(at.dark, dark ? 1 : 0);
    gl.uniform3fv(at.light, SUN);
    gl.uniform4f(at.under, x, y, UNDER * this.radius, this.radius);
    gl.uniform1f(at.groundHeight, this.groundHeight);
    ["map", "partData", "stationData", "ramp", "depths", "nearness"].forEach((name, k) => gl.uniform1i(at[name], k));
    gl.uniform1i(at.ties, ties ? 1 : 0);
    gl.uniform1f(at.pixel, 0);
  }

  drawShadows(ties) {
    const gl = this.gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowFrame);
    gl.viewport(0, 0, this.mapSize, this.mapSize);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(2, 4);
    for (const [shading, draw] of [[this.solidDepth, this.drawSolids], [this.bentDepth, this.drawBent]]) {
      this.prepare(shading, this.lightView, false, 1, ties);
      gl.uniform1f(shading.at.pixel, (2.5 * this.radius) / this.mapSize); // or shadows of thin ropes have holes
      draw.call(this, shading, false);
      draw.call(this, shading, true);
    }
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  drawNearness(ties) {
    const gl = this.gl, size = this.nearSize, wide = UNDER * this.radius, high = 0.6 * this.radius;
    const [x, y] = this.middle, low = this.groundHeight - 0.02 * high;
    const fromBelow = new Float32Array([
      1 / wide, 0, 0, 0, 0, 1 / wide, 0, 0, 0, 0, 2 / high, 0, -x / wide, -y / wide, (-2 * low) / high - 1, 1,
    ]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.near[0].frame);
    gl.viewport(0, 0, size, size);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    for (const [shading, draw] of [[this.solidNear, this.drawSolids], [this.bentNear, this.drawBent]]) {
      this.prepare(shading, fromBelow, false, 1, ties);
      draw.call(this, shading, false);
    }
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(this.blurring.p);
    gl.uniform1i(this.blurring.at.picture, 0);
    gl.bindVertexArray(this.skyShape.vao);
    for (const [from, to, way] of [[0, 1, [1.6, 0]], [1, 0, [0, 1.6]]]) {
      gl.bindTexture(gl.TEXTURE_2D, this.near[from].texture);
      gl.bindFramebuffer(gl.FRAMEBUFFER, this.near[to].frame);
      gl.uniform2f(this.blurring.at.way, way[0] / size, way[1] / size);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    }
    gl.enable(gl.DEPTH_TEST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  drawSky(dark, aspect) {
    const gl = this.gl, { at } = this.skyShading, [right, up, back] = this.camera.axes, free = this.camera.free;
    const slope = Math.tan(FIELD_OF_VIEW / 2);
    this.prepare(this.skyShading, this.lightView, dark, 0, true);
    gl.uniform3fv(at.right, right.map((c) => c * slope * aspect));
    gl.uniform3fv(at.up, up.map((c) => c * slope));
    gl.uniform3fv(at.back, back.map((c, i) => c + slope * (free.x * aspect * right[i] + free.y * up[i])));
    gl.bindVertexArray(this.skyShape.vao);
    gl.depthMask(false);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.depthMask(true);
  }

  drawGround(view, dark, soft, eye) {
    const gl = this.gl, { at } = this.groundShading;
    this.prepare(this.groundShading, view, dark, soft, true);
    gl.uniform3fv(at.centre, [this.middle[0], this.middle[1], this.groundHeight]);
    gl.uniform3fv(at.eye, eye);
    gl.uniform1f(at.reach, this.reach);
    gl.uniform1f(at.grid, this.grid);
    gl.bindVertexArray(this.groundShape.vao);
    gl.enable(gl.POLYGON_OFFSET_FILL); // a scene's own floor of the same height is hidden by it
    gl.polygonOffset(-1, -32);
    gl.drawArrays(gl.TRIANGLES, 0, 6);
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }

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
