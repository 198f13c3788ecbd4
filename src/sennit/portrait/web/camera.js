// Vectors and matrices, and the camera; see drawing.js.

// ------------------------------------------------------------------------------------------------------- small algebra
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const plus = (a, b, factor = 1) => [a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => {
  const size = norm(a) || 1;
  return [a[0] / size, a[1] / size, a[2] / size];
};
const rotated = (q, v) => {  // by a quaternion (w, x, y, z)
  const once = cross([q[1], q[2], q[3]], v).map((x) => 2 * x);
  const twice = cross([q[1], q[2], q[3]], once);
  return [v[0] + q[0] * once[0] + twice[0], v[1] + q[0] * once[1] + twice[1], v[2] + q[0] * once[2] + twice[2]];
};
const times = (a, b) => {  // matrices, column after column
  const c = new Float32Array(16);
  for (let j = 0; j < 4; j++) {
    for (let i = 0; i < 4; i++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * k + i] * b[4 * j + k];
      c[4 * j + i] = sum;
    }
  }
  return c;
};
const looking = (eye, target) => {
  const z = unit(minus(eye, target)), x = unit(cross([0, 0, 1], z)), y = cross(z, x);
  return new Float32Array([
    x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1,
  ]);
};
const perspective = (angle, aspect, near, far) => {
  const f = 1 / Math.tan(angle / 2);
  return new Float32Array([
    f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0,
  ]);
};
const parallel = (r, near, far) =>
  new Float32Array([
    1 / r, 0, 0, 0, 0, 1 / r, 0, 0, 0, 0, -2 / (far - near), 0, 0, 0, -(far + near) / (far - near), 1,
  ]);
const colourOf = (text) => [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16) / 255);

// -------------------------------------------------------------------------------------------------------------- camera
const FIELD_OF_VIEW = (40 * Math.PI) / 180; // vertically; sennit.view.page.framing has the same
const MEANT_ASPECT = 1.6; // of the picture that a scene's own camera is meant for
const NEARER = 0.5, FURTHER = 1.3; // how far a narrower picture's eye may be off where it sees all of that one's width
const ROOM = 0.86; // part of the picture that what is fitted takes, at most

class Camera {
  // Looks from `distance` at `target`; `insets` (pixels: left, right, top, bottom) are covered by other things, and what
  // is looked at is in the middle of what they leave.
  constructor(canvas) {
    this.canvas = canvas;
    this.target = [0, 0, 0];
    this.distance = 5;
    this.yaw = -1.1;
    this.pitch = 0.35;
    this.insets = { left: 0, right: 0, top: 0, bottom: 0 };
    this.along = [0, 0, 0]; // added to eye and target, where the camera goes along with something
    this.size = 1; // m, of what there is: limits of zooming
    this.touched = false; // whether somebody has moved it since it was fitted
    this.swayed = this.swaying = 0; // rad, s: see `sway`
    this.calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    for (const what of ["pointerdown", "wheel"]) canvas.addEventListener(what, () => { this.calm = true; }, { passive: true });
  }

  get eye() {
    const flat = this.distance * Math.cos(this.pitch);
    return plus(this.aim, [
      flat * Math.cos(this.yaw), flat * Math.sin(this.yaw), this.distance * Math.sin(this.pitch),
    ]);
  }

  get aim() {
    return plus(this.target, this.along);
  }

  get axes() {  // right, up, back: unit vectors
    const back = unit(minus(this.eye, this.aim)), right = unit(cross([0, 0, 1], back));
    return [right, cross(back, right), back];
  }

  get free() {  // what the insets leave: middle, from -1 to 1, and size in pixels
    const width = this.canvas.clientWidth || 1, height = this.canvas.clientHeight || 1, inset = this.insets;
    return {
      width: Math.max(width - inset.left - inset.right, 0.2 * width),
      height: Math.max(height - inset.top - inset.bottom, 0.2 * height),
      x: (inset.left - inset.right) / width,
      y: (inset.bottom - inset.top) / height,
    };
  }

  look(eye, target, corners = []) {  // a view that a scene asks for; `corners` that it has in sight are to stay there
    this.aimAt(minus(eye, target), target);
    const { width, height } = this.free, narrow = (MEANT_ASPECT * height) / width;
    this.distance = (norm(minus(eye, target)) * (this.canvas.clientHeight || 1)) / height;
    if (narrow <= 1) return;
    const [right, , back] = this.axes, slope = MEANT_ASPECT * Math.tan(FIELD_OF_VIEW / 2);
    const seen = corners.filter((corner) => {
      const c = minus(corner, this.target);
      return Math.abs(dot(c, right)) < slope * (this.distance - dot(c, back));
    });
    const across = seen.length ? this.toSee(seen, true) : this.distance * narrow;
    const least = this.distance * Math.max(1, NEARER * narrow);
    this.distance = Math.min(Math.max(across, least), this.distance * narrow * FURTHER);
  }

  toSee(corners, sideways = false) {  // least distance from which they are in the picture; `sideways`: in its width
    const [right, up, back] = this.axes, { width, height } = this.free;
    const slope = (ROOM * Math.tan(FIELD_OF_VIEW / 2)) / (this.canvas.clientHeight || 1);
    let distance = 1e-6;
    for (const corner of corners) {
      const c = minus(corner, this.target), high = sideways ? 0 : Math.abs(dot(c, up)) / (slope * height);
      distance = Math.max(distance, dot(c, back) + Math.max(high, Math.abs(dot(c, right)) / (slope * width)));
    }
    return distance;
  }

  fit(corners, way) {  // all `corners` in sight; `way`: where the eye is, seen from their middle; without: as it is now
    const low = [0, 1, 2].map((i) => Math.min(...corners.map((c) => c[i])));
    const high = [0, 1, 2].map((i) => Math.max(...corners.map((c) => c[i])));
    this.along = [0, 0, 0];
    this.aimAt(way || this.axes[2], low.map((x, i) => (x + high[i]) / 2));
    this.distance = this.toSee(corners);
  }

  aimAt(way, target) {
    const d = unit(way);
    this.target = [...target];
    this.yaw = Math.atan2(d[1], d[0]);
    this.pitch = Math.asin(Math.min(Math.max(d[2], -0.999), 0.999));
    this.touched = false;
    this.swayed = this.swaying = 0;
  }

  sway(seconds) {  // goes round a little, to and fro, so that depth is seen, until the picture is touched; false then
    if (this.calm || this.touched || this.swaying > 120) return false;
    this.swaying += Math.min(seconds, 0.1);
    const now = 0.16 * Math.sin((2 * Math.PI * this.swaying) / 24);
    this.yaw += now - this.swayed;
    this.swayed = now;
    return true;
  }

  orbit(dx, dy) {  // pixels
    this.yaw -= 0.007 * dx;
    this.pitch = Math.min(Math.max(this.pitch + 0.007 * dy, -1.5), 1.5);
    this.touched = true;
  }

  pan(dx, dy) {  // pixels: what is at the target's distance moves with the pointer
    const metres = (2 * this.distance * Math.tan(FIELD_OF_VIEW / 2)) / this.canvas.clientHeight;
    const [right, up] = this.axes;
    for (let i = 0; i < 3; i++) this.target[i] += metres * (dy * up[i] - dx * right[i]);
    this.touched = true;
  }

  zoom(factor) {  // further away by `factor`
    this.distance = Math.min(Math.max(this.distance * factor, 0.01 * this.size), 40 * this.size);
    this.touched = true;
  }

  ray(x, y) {  // from the eye through a place of the window, pixels: origin, unit direction; ahead: where it looks
    const box = this.canvas.getBoundingClientRect(), slope = Math.tan(FIELD_OF_VIEW / 2), free = this.free;
    const [right, up, back] = this.axes;
    const across = ((2 * (x - box.left)) / box.width - 1 - free.x) * slope * (box.width / box.height);
    const above = (1 - (2 * (y - box.top)) / box.height - free.y) * slope;
    const ahead = back.map((c) => -c);
    return { origin: this.eye, direction: unit(plus(plus(ahead, right, across), up, above)), ahead };
  }

  pixelOf(place) {  // where a place is seen: x, y, pixels of the window, and how far before the eye; null: behind it
    const box = this.canvas.getBoundingClientRect(), slope = Math.tan(FIELD_OF_VIEW / 2), free = this.free;
    const [right, up, back] = this.axes, c = minus(place, this.eye), depth = -dot(c, back);
    if (!(depth > 0)) return null;
    const x = dot(c, right) / (depth * slope * (box.width / box.height)) + free.x;
    const y = dot(c, up) / (depth * slope) + free.y;
    return [box.left + ((x + 1) / 2) * box.width, box.top + ((1 - y) / 2) * box.height, depth];
  }

  metresPerPixel(depth) {
    return (2 * depth * Math.tan(FIELD_OF_VIEW / 2)) / (this.canvas.clientHeight || 1);
  }

  projection(near, far) {
    const lens = perspective(FIELD_OF_VIEW, this.canvas.width / this.canvas.height, near, far), free = this.free;
    lens[8] = -free.x;
    lens[9] = -free.y;
    return times(lens, looking(this.eye, this.aim));
  }
}
