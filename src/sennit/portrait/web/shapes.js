// Triangles of tubes and surfaces, and boxes round parts; see drawing.js.

// Corners of a tube's section along d1 and d2, with normals and where they are in the section: x, y, nx, ny, ax, ay.
const outlineOf = (part) => {
  if (part.kind !== "tube") return [];
  const [a, b] = part.half, found = [];
  if (part.rectangular) {
    const corners = [[1, -1], [1, 1], [1, 1], [-1, 1], [-1, 1], [-1, -1], [-1, -1], [1, -1]];
    const normals = [[1, 0], [0, 1], [-1, 0], [0, -1]];
    corners.forEach(([x, y], k) => found.push([x * a, y * b, ...normals[k >> 1], x, y]));
    return found;
  }
  for (let k = 0; k < SIDES; k++) {
    const x = Math.cos((2 * Math.PI * k) / SIDES), y = Math.sin((2 * Math.PI * k) / SIDES), s = Math.hypot(x / a, y / b);
    found.push([x * a, y * b, x / a / s, y / b / s, x, y]);
  }
  return found;
};

// Faces of a tube of rings of `k` corners, with caps; or of a surface.
const facesOf = (part, k) => {
  if (part.kind === "surface") return part.indices;
  const edges = part.rectangular ? [0, 2, 4, 6] : [...Array(k).keys()], f = [];
  for (let i = 0; i + 1 < part.count; i++) {
    for (const e of edges) {
      const a = i * k + e, b = i * k + ((e + 1) % k);
      f.push(a, b, b + k, a, b + k, a + k);
    }
  }
  if (!part.closed) {
    for (const [ring, end] of [[part.count, 0], [part.count + 1, 1]]) {
      for (let e = 1; e + 1 < k; e++) f.push(ring * k, ring * k + (end ? e : e + 1), ring * k + (end ? e + 1 : e));
    }
  }
  return new Uint32Array(f);
};

// Box round a part in the frame that was placed last: [low, high]; null where it is nowhere.
const boxOf = (part) => {
  const block = part.block, low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  if (part.kind === "solid") {
    const q = [block[4], block[5], block[6], block[7]];
    for (let k = 0; k < 8; k++) {
      const corner = [part.box[k & 1][0], part.box[(k >> 1) & 1][1], part.box[(k >> 2) & 1][2]];
      const place = rotated(q, corner);
      for (let j = 0; j < 3; j++) {
        low[j] = Math.min(low[j], place[j] + block[1 + j]);
        high[j] = Math.max(high[j], place[j] + block[1 + j]);
      }
    }
  } else {
    const margin = part.half ? Math.max(...part.half) : 0;
    for (let i = 0; i < 3 * part.count; i++) {
      const j = i % 3, x = block[1 + i];
      if (x - margin < low[j]) low[j] = x - margin;
      if (x + margin > high[j]) high[j] = x + margin;
    }
  }
  return low.every(Number.isFinite) && high.every(Number.isFinite) ? [low, high] : null;
};
