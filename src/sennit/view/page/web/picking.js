// Which material place is under the pointer. On a tube it is the part of its length, on a solid a point in its frame, on
// a surface the number of a vertex: as commands name it.

// Of each piece of a tube's middle: the point nearest to the ray. Within `reach` (a function of the depth, m) of it.
const onTube = (part, ray, reach) => {
  const block = part.block, half = Math.max(...part.half), o = ray.origin, d = ray.direction;
  let best = null;
  for (let i = 0; i + 1 < part.count; i++) {
    const a = 1 + 3 * i, sx = block[a] - o[0], sy = block[a + 1] - o[1], sz = block[a + 2] - o[2];
    const px = block[a + 3] - block[a], py = block[a + 4] - block[a + 1], pz = block[a + 5] - block[a + 2];
    const pd = px * d[0] + py * d[1] + pz * d[2], sd = sx * d[0] + sy * d[1] + sz * d[2];
    // everything as seen along the ray: only what is perpendicular to it counts
    const fx = px - pd * d[0], fy = py - pd * d[1], fz = pz - pd * d[2];
    const gx = sx - sd * d[0], gy = sy - sd * d[1], gz = sz - sd * d[2];
    const long = fx * fx + fy * fy + fz * fz;
    const share = Math.min(Math.max(-(gx * fx + gy * fy + gz * fz) / Math.max(long, 1e-300), 0), 1);
    const distance = Math.hypot(gx + share * fx, gy + share * fy, gz + share * fz), depth = sd + share * pd;
    const within = Math.max(half, reach(depth));
    if (depth <= 0 || distance > within) continue;
    // of what the ray passes, the front; there, the piece that it passes most closely
    const nearer = best === null || depth < best.depth - 4 * within;
    if (nearer || (distance < best.distance && depth < best.depth + 4 * within)) {
      const position = [block[a] + share * px, block[a + 1] + share * py, block[a + 2] + share * pz];
      best = { place: (i + share) / (part.count - 1), position, depth, distance };
    }
  }
  return best;
};

// First triangle that a ray meets: [number, depth] (Möller and Trumbore). `at` gives the three corners of number k.
const firstTriangle = (count, at, origin, direction) => {
  let best = null;
  for (let k = 0; k < count; k++) {
    const [a, b, c] = at(k), first = minus(b, a), second = minus(c, a), across = cross(direction, second);
    const size = dot(first, across);
    if (size === 0) continue;
    const away = minus(origin, a), u = dot(away, across) / size;
    if (u < 0 || u > 1) continue;
    const other = cross(away, first), v = dot(direction, other) / size, depth = dot(second, other) / size;
    if (v >= 0 && u + v <= 1 && depth > 0 && (!best || depth < best[1])) best = [k, depth];
  }
  return best;
};

const hitsBox = (low, high, origin, direction) => {
  let near = 0, far = Infinity;
  for (let i = 0; i < 3; i++) {
    const a = (low[i] - origin[i]) / direction[i], b = (high[i] - origin[i]) / direction[i];
    if (Number.isNaN(a) || Number.isNaN(b)) continue;
    near = Math.max(near, Math.min(a, b));
    far = Math.min(far, Math.max(a, b));
  }
  return near <= far;
};

const inSolid = (part, ray) => {
  const b = part.block, back = [b[4], -b[5], -b[6], -b[7]];
  const origin = rotated(back, minus(ray.origin, [b[1], b[2], b[3]])), direction = rotated(back, ray.direction);
  if (!hitsBox(...part.box, origin, direction)) return null;
  const v = part.mesh || (part.mesh = new Float32Array(page.arrays, ...part.corners));
  const corner = (k) => [v[k], v[k + 1], v[k + 2]];
  const met = firstTriangle(v.length / 9, (k) => [corner(9 * k), corner(9 * k + 3), corner(9 * k + 6)], origin, direction);
  if (!met) return null;
  return { place: plus(origin, direction, met[1]), position: plus(ray.origin, ray.direction, met[1]), depth: met[1] };
};

const onSurface = (part, ray) => {
  const v = part.block, f = part.indices, corner = (i) => [v[1 + 3 * i], v[2 + 3 * i], v[3 + 3 * i]];
  const at = (k) => [corner(f[3 * k]), corner(f[3 * k + 1]), corner(f[3 * k + 2])];
  const met = firstTriangle(f.length / 3, at, ray.origin, ray.direction);
  if (!met) return null;
  const where = plus(ray.origin, ray.direction, met[1]);
  const near = [0, 1, 2].map((j) => f[3 * met[0] + j]);
  near.sort((a, b) => norm(minus(corner(a), where)) - norm(minus(corner(b), where)));
  return { place: near[0], position: corner(near[0]), depth: met[1] };
};

// What a ray meets first of the parts with one of `roles`; tubes within `pixels` of their middle.
const nearest = (ray, roles, pixels = 9) => {
  let best = null;
  const reach = (depth) => pixels * camera.metresPerPixel(depth);
  for (const part of drawing ? drawing.parts : []) {
    if (!part.shown || !part.block || !roles.includes(part.role)) continue;
    const hit = { tube: onTube, solid: inSolid, surface: onSurface }[part.kind](part, ray, reach);
    if (hit && (!best || hit.depth < best.depth)) best = { ...hit, part: part.number };
  }
  return best;
};

// Where a material place is now.
const positionOf = (number, place) => {
  const part = drawing.parts[number], b = part && part.block;
  if (!b) return null;
  if (part.kind === "solid") return plus(rotated([b[4], b[5], b[6], b[7]], place), [b[1], b[2], b[3]]);
  if (part.kind === "surface") return [b[1 + 3 * place], b[2 + 3 * place], b[3 + 3 * place]];
  const exact = place * (part.count - 1), k = Math.min(Math.floor(exact), part.count - 2), at = 1 + 3 * k;
  return [0, 1, 2].map((i) => b[at + i] + (exact - k) * (b[at + 3 + i] - b[at + i]));
};

// The number among `parts` of what had `number` among `before`. Parts are known by kind and name; where several share
// them, none is known when one of them goes: null. Nor is what has another number of places now: a rod that was cut.
const renumbered = (before, number, parts) => {
  const met = before[number], same = (part) => part.kind === met.kind && part.name === met.name;
  const there = parts.findIndex(same);
  if (there < 0 || before.filter(same).length > 1 || parts.filter(same).length > 1) return null;
  return parts[there].count === met.count && parts[there].closed === met.closed ? there : null;
};
// A material place among `before` where it is among the parts that there are now; null: it is not known.
const relocated = (before, place) => {
  const part = before.length ? renumbered(before, place.part, drawing.parts) : null;
  return part === null ? null : { ...place, part };
};
