"use strict";
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
//   drawing.draw(look)                                 draws all of it; look: {dark, ground, shadows, ties, sharpness}
//   drawing.camera                                     see Camera below: orbit, pan, zoom, fit, look, ray, pixelOf
//   drawing.parts                                      descriptions; `shown` says whether a part is seen now
//   drawing.bounds()                                   box round what is shown, as [low, high, corners of parts' boxes]
//   drawing.fields()                                   names of the fields that some part carries
//
// Nothing is drawn between two calls of `draw`, and `draw` draws what `place` was last told of every part: a picture is
// of one moment. Vertices are never moved by this script: each frame writes poses and stations into two textures, from
// which the vertex shaders place them; ten thousand parts are a handful of calls. Lengths in m, z is up, angles in rad.

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

  look(eye, target) {  // a view that a scene asks for
    this.aimAt(minus(eye, target), target);
    const { width, height } = this.free, tall = (this.canvas.clientHeight || 1) / height;
    this.distance = norm(minus(eye, target)) * tall * Math.max(1, MEANT_ASPECT / (width / height));
  }

  fit(corners, way) {  // all `corners` in sight; `way`: where the eye is, seen from their middle; without: as it is now
    const low = [0, 1, 2].map((i) => Math.min(...corners.map((c) => c[i])));
    const high = [0, 1, 2].map((i) => Math.max(...corners.map((c) => c[i])));
    this.along = [0, 0, 0];
    this.aimAt(way || this.axes[2], low.map((x, i) => (x + high[i]) / 2));
    const [right, up, back] = this.axes, { width, height } = this.free;
    const slope = (ROOM * Math.tan(FIELD_OF_VIEW / 2)) / (this.canvas.clientHeight || 1);
    let distance = 1e-6;
    for (const corner of corners) {
      const c = minus(corner, this.target);
      const needed = Math.max(Math.abs(dot(c, up)) / (slope * height), Math.abs(dot(c, right)) / (slope * width));
      distance = Math.max(distance, dot(c, back) + needed);
    }
    this.distance = distance;
  }

  aimAt(way, target) {
    const d = unit(way);
    this.target = [...target];
    this.yaw = Math.atan2(d[1], d[0]);
    this.pitch = Math.asin(Math.min(Math.max(d[2], -0.999), 0.999));
    this.touched = false;
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

// ------------------------------------------------------------------------------------------------------------- shaders
// Of each part six texels: position and whether it is shown; quaternion (x, y, z, w); colour and opacity; least half
// width (m), look, roughness, kind (0 solid, 1 tube, 2 surface); colour of its stripe and the stripe's mode; metal.
const PART_TEXELS = 6;
// Of each station three texels: centre and arc length in half widths; director (of a surface: normal) and level of the
// field (below 0: none); tangent.
const STATION_TEXELS = 3;
const ROW = 1020; // texels in a row of these textures: whole parts and whole stations
const LOOKS = { smooth: 0, laid: 1, braid: 2, wire: 3, jacket: 4 };

const FETCHED = `#version 300 es
precision highp float; precision highp int;
uniform highp sampler2D partData, stationData; uniform mat4 view; uniform float pixel; uniform bool ties;
vec4 texel(highp sampler2D data, int at) { return texelFetch(data, ivec2(at % ${ROW}, at / ${ROW}), 0); }
vec3 turned(vec4 q, vec3 v) { vec3 t = 2.0 * cross(q.xyz, v); return v + q.w * t + cross(q.xyz, t); }
out vec3 vPlace, vNormal, vAcross, vAlong; out vec4 vColour; out float vLevel; flat out vec4 vLook, vStripe;
const vec4 NOWHERE = vec4(2.0, 2.0, 2.0, 1.0);`;
const SOLID_VERTEX = `${FETCHED}
layout(location=0) in vec3 position; layout(location=1) in vec3 normal; layout(location=2) in vec4 colour;
layout(location=3) in float part;
void main() {
  int at = ${PART_TEXELS} * int(part + 0.5);
  vec4 place = texel(partData, at), q = texel(partData, at + 1), own = texel(partData, at + 2);
  vLook = texel(partData, at + 3); vec2 more = texel(partData, at + 5).xy;
  vLook.w = more.x; vStripe = vec4(0.0, 0.0, 0.0, -more.y);
  vPlace = place.xyz + turned(q, position); vNormal = turned(q, normal); vAlong = vec3(1.0, 0.0, 0.0);
  vColour = vec4(colour.a > 0.5 ? colour.rgb : own.rgb, own.a); vAcross = vec3(0.0, 0.0, 1e9); vLevel = -1.0;
  gl_Position = place.w > (ties ? 0.25 : 0.75) ? view * vec4(vPlace, 1.0) : NOWHERE;
}`;
const BENT_VERTEX = `${FETCHED}
layout(location=0) in vec4 corner; layout(location=1) in vec2 across; layout(location=2) in vec3 whose;
void main() {
  int at = ${PART_TEXELS} * int(whose.x + 0.5), station = ${STATION_TEXELS} * int(whose.y + 0.5);
  vec4 place = texel(partData, at), own = texel(partData, at + 2);
  vec4 centre = texel(stationData, station), director = texel(stationData, station + 1);
  vec3 tangent = texel(stationData, station + 2).xyz;
  vLook = texel(partData, at + 3); vStripe = texel(partData, at + 4);
  vColour = own; vLevel = director.w; vAlong = tangent;
  if (vLook.w > 1.5) {
    vPlace = centre.xyz; vNormal = director.xyz; vAcross = vec3(0.0, 0.0, 1e9); vAlong = vec3(0.0);
  } else {
    vec3 d2 = cross(tangent, director.xyz), side = corner.z * director.xyz + corner.w * d2;
    vPlace = centre.xyz + corner.x * director.xyz + corner.y * d2;
    // never thinner than 1.7 pixels
    vPlace += side * max(0.0, 0.85 * pixel * (view * vec4(vPlace, 1.0)).w - vLook.x);
    vNormal = whose.z == 0.0 ? side : whose.z * tangent;
    vAcross = vec3(across, whose.z == 0.0 ? centre.w : 1e9);
  }
  vLook.w = texel(partData, at + 5).x;
  gl_Position = place.w > (ties ? 0.25 : 0.75) ? view * vec4(vPlace, 1.0) : NOWHERE;
}`;

// Light is linear until the end: of a sun, and of a sky that is a formula, so that it can be mirrored at no cost.
// `soft`: 0 without shadows; 1 with one tap; 2 with a penumbra that grows with the distance of what casts the shadow.
const LIGHT = `
uniform highp sampler2DShadow map; uniform highp sampler2D depths, nearness;
uniform mat4 lightView; uniform vec3 light; uniform vec4 under; uniform float texelSize, dark; uniform int soft;
vec3 skyOf(vec3 d) {  // below the horizon as on it: there the ground fades into it
  float h = max(d.z, 0.0);
  vec3 day = mix(vec3(1.02, 1.14, 1.26), vec3(0.10, 0.38, 0.95), 1.0 - exp(-3.6 * h));
  vec3 night = mix(vec3(0.030, 0.037, 0.048), vec3(0.006, 0.008, 0.013), 1.0 - exp(-3.0 * h));
  return mix(day, night, dark);
}
vec3 around(vec3 d, float rough) {  // what a surface sees in a direction: the sky, and the ground below it
  vec3 floorLight = mix(vec3(0.36, 0.34, 0.31), vec3(0.035, 0.038, 0.044), dark);
  float edge = 0.05 + 0.6 * rough;
  vec3 above = skyOf(vec3(d.xy, mix(d.z, 0.35, rough))) * mix(1.0, 1.9, dark);
  // two lamps of a studio, which give round things their shape
  float lamp = smoothstep(0.55 - 0.5 * rough, 0.95, dot(d, vec3(0.72, -0.42, 0.55)));
  above += mix(0.55, 0.22, dark) * lamp * (1.0 - 0.75 * rough);
  return mix(floorLight, above, smoothstep(-edge, edge, d.z));
}
float noise(vec2 p) { return fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715)))); }
float lit(vec3 p) {
  vec4 q = lightView * vec4(p, 1.0);
  vec3 s = q.xyz * 0.5 + 0.5;
  if (soft == 0 || any(lessThan(s, vec3(0.0))) || any(greaterThan(s, vec3(1.0)))) return 1.0;
  float here = s.z - 0.0012;
  if (soft == 1) return texture(map, vec3(s.xy, here));
  float angle = 6.2831853 * noise(gl_FragCoord.xy), between = 0.0, found = 0.0;
  for (int i = 0; i < 8; i++) {
    float a = angle + 2.3999632 * float(i), r = 11.0 * texelSize * sqrt((float(i) + 0.5) / 8.0);
    float above = here - texture(depths, s.xy + r * vec2(cos(a), sin(a))).r;
    if (above > 0.0) { between += above; found += 1.0; }
  }
  if (found < 0.5) return 1.0;
  float wide = clamp(75.0 * between / found, 1.1, 11.0) * texelSize, sum = 0.0;
  for (int i = 0; i < 14; i++) {
    float a = angle + 2.3999632 * float(i), r = wide * sqrt((float(i) + 0.5) / 14.0);
    sum += texture(map, vec3(s.xy + r * vec2(cos(a), sin(a)), here));
  }
  return sum / 14.0;
}
float covered(vec2 p) {  // how much of the sky is hidden from the ground by what lies on it or near above it, 0 to 1
  vec2 s = (p - under.xy) / under.z * 0.5 + 0.5;
  if (any(lessThan(s, vec2(0.0))) || any(greaterThan(s, vec2(1.0)))) return 0.0;
  return texture(nearness, s).r;
}
vec3 shown(vec3 c) {  // what a screen shows of linear light: a curve with a toe and a shoulder
  c *= mix(0.66, 1.25, dark);
  c = c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14);
  return pow(clamp(c, 0.0, 1.0), vec3(1.0 / 2.2));
}`;
const ROPES = `
// How a rope's surface differs from a round one: a lean of its normal (x: round the rope, y: along it), light that
// grooves swallow, and a shade of its colour. phi: angle round it; s: length over radius; both with how much of them a
// pixel covers.
struct Weave { vec2 lean; float open, shade, second; };
float hash(float x) { return fract(sin(x * 91.3458) * 47453.5453); }
float seen(float cells) { return 1.0 - smoothstep(0.22, 0.62, cells); }  // finer than pixels: only its mean is seen
Weave strands(float count, float lay, float yarns, float phi, float s, vec2 wide) {
  // strands that wind round: lay: turns of all of them in one radius of length
  float turn = count * phi / 6.2831853 - lay * s, cell = count * wide.x / 6.2831853 + lay * wide.y;
  float x = 2.0 * fract(turn) - 1.0, much = seen(cell);
  Weave w;
  vec2 over = normalize(vec2(count / 6.2831853, -lay));
  w.lean = much * 0.95 * x * abs(x) * over;
  w.open = mix(0.80, 1.0 - 0.80 * smoothstep(0.55, 1.0, abs(x)), much);
  // yarns of each strand, twisted the other way
  float yarn = yarns * (0.5 * x + 1.05 * lay * s), fine = seen(yarns * cell);
  float y = 2.0 * fract(yarn) - 1.0;
  w.lean += fine * 0.42 * y * normalize(vec2(1.0, 0.55));
  w.open *= mix(0.93, 1.0 - 0.28 * smoothstep(0.5, 1.0, abs(y)), fine);
  w.shade = 1.0 + fine * 0.22 * (hash(floor(yarn) + 17.0 * floor(turn)) - 0.5);
  w.second = 0.0;
  return w;
}
Weave plaits(float count, float lay, float phi, float s, vec2 wide) {
  // two families of flat bundles, over and under each other
  float a = count * phi / 6.2831853 + lay * s, b = count * phi / 6.2831853 - lay * s;
  float cell = count * wide.x / 6.2831853 + lay * wide.y, much = seen(cell);
  bool first = mod(floor(a) + floor(b), 2.0) < 0.5;
  float x = 2.0 * fract(first ? a : b) - 1.0, y = 2.0 * fract(first ? b : a) - 1.0;
  vec2 over = normalize(vec2(count / 6.2831853, first ? lay : -lay)), on = vec2(over.y, -over.x);
  Weave w;
  w.lean = much * (0.7 * x * over + (first ? 0.35 : -0.35) * y * on);
  w.open = mix(0.86, 1.0 - 0.6 * smoothstep(0.6, 1.0, abs(x)) - 0.22 * y * y, much);
  float fibre = 6.0 * x, fine = seen(6.0 * cell);
  w.shade = 1.0 + fine * 0.14 * (hash(floor(fibre) + 7.0 * floor(first ? a : b)) - 0.5);
  w.second = first && mod(floor(a), 4.0) < 0.5 ? 1.0 : 0.0;
  w.second = mix(0.125, w.second, much);
  return w;
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec3 vPlace, vNormal, vAcross, vAlong; in vec4 vColour; in float vLevel; flat in vec4 vLook, vStripe;
out vec4 result;
uniform vec3 eye; uniform bool painted; uniform sampler2D ramp; uniform float groundHeight;
${LIGHT}
${ROPES}
void main() {
  vec3 n = normalize(vNormal), e = normalize(eye - vPlace), c = vColour.rgb;
  vec3 facet = normalize(cross(dFdx(vPlace), dFdy(vPlace)) + 1e-20 * e);
  if (dot(n, e) < 0.0) n = -n;
  if (dot(facet, e) < 0.0) facet = -facet;
  // surfaces have one normal at each vertex: where they are creased, faces keep their own
  if (vAlong == vec3(0.0)) n = normalize(mix(facet, n, smoothstep(0.80, 0.94, dot(n, facet))));
  float rough = vLook.z, metal = vLook.w, open = 1.0, shade = 1.0;
  bool shaded = painted && vLevel > -0.5, rope = vAcross.z < 1e8;
  if (shaded) {
    c = texture(ramp, vec2(clamp(vLevel, 0.002, 0.998), 0.5)).rgb;
    metal = 0.0;
  }
  if (rope && vLook.y > 0.5 && vLook.y < 3.5) {
    float size = max(dot(vAcross.xy, vAcross.xy), 1e-6), phi = atan(vAcross.y, vAcross.x);
    vec2 dx = dFdx(vAcross.xy), dy = dFdy(vAcross.xy);
    vec2 wide = vec2(
      length(vec2(vAcross.x * dx.y - vAcross.y * dx.x, vAcross.x * dy.y - vAcross.y * dy.x)) / size,
      length(vec2(dFdx(vAcross.z), dFdy(vAcross.z))));
    Weave w;
    if (vLook.y < 1.5) w = strands(3.0, 0.30, 5.0, phi, vAcross.z, wide);
    else if (vLook.y < 2.5) w = plaits(8.0, 0.62, phi, vAcross.z, wide);
    else w = strands(6.0, 0.42, 3.0, phi, vAcross.z, wide);
    vec3 along = normalize(vAlong - dot(vAlong, n) * n);
    n = normalize(n + w.lean.x * cross(along, n) + w.lean.y * along);
    open = w.open; shade = w.shade;
    if (!shaded) c = mix(c, vStripe.rgb, vStripe.w > 0.5 ? 0.8 * w.second : 0.0);
  } else if (rope && !shaded && vStripe.w > 1.5) {  // on the wide sides of a flat tube
    vec2 a = abs(vStripe.w < 2.5 ? vAcross.xy : vAcross.yx);
    float w = fwidth(a.y);
    if (a.x > 0.999) c = mix(vStripe.rgb, c, smoothstep(0.3 - w, 0.3 + w, a.y));
  } else if (rope && !shaded && vStripe.w > 0.5) {
    float x = abs(normalize(vAcross.xy).x), w = max(fwidth(x), 1e-4);
    c = mix(c, vStripe.rgb, smoothstep(0.936 - w, 0.936 + w, x));
  }
  c = shade * pow(c, vec3(2.2));
  float toEye = max(dot(n, e), 1e-3), toSun = dot(n, light);
  float sun = toSun > 0.0 ? lit(vPlace + 0.0 * n) * toSun : 0.0;
  float height = (vPlace.z - groundHeight) / under.w;
  open *= 1.0 - (0.5 - 0.5 * n.z) * 0.55 * exp(-4.0 * max(height, 0.0));  // near the ground its sky is hidden below
  vec3 base = mix(vec3(0.04), c, metal);
  vec3 h = normalize(light + e);
  float a2 = pow(max(rough, 0.12), 4.0), nh = max(dot(n, h), 0.0), d = nh * nh * (a2 - 1.0) + 1.0;
  float k = 0.5 * rough * rough + 0.08, geometry = 0.25 / ((max(toSun, 0.0) * (1.0 - k) + k) * (toEye * (1.0 - k) + k));
  vec3 glint = (base + (1.0 - base) * pow(1.0 - max(dot(h, e), 0.0), 5.0)) * min(a2 / (3.1416 * d * d), 60.0) * geometry;
  vec3 mirror = base + (max(vec3(1.0 - rough), base) - base) * pow(1.0 - toEye, 5.0);
  vec3 sunlight = mix(vec3(2.95, 2.75, 2.40), vec3(1.15, 1.15, 1.2), dark);
  vec3 ambient = around(n, 1.0) * mix(0.62, 1.35, dark);
  vec3 seen = (1.0 - metal) * c * (ambient * open + 0.42 * sunlight * sun * mix(0.6, 1.0, open));
  seen += open * mirror * around(reflect(-e, n), rough) * mix(1.0, 0.75, rough) + glint * sunlight * sun * open;
  result = vec4(shown(seen), 1.0) * vColour.a;
}`;
const DEPTH_FRAGMENT = `#version 300 es
precision highp float; in vec4 vColour; void main() { if (vColour.a < 0.5) discard; }`;
const NEAR_FRAGMENT = `#version 300 es
precision highp float; in vec3 vPlace; in vec4 vColour; flat in vec4 vStripe; out vec4 result; uniform float groundHeight; uniform vec4 under;
void main() {
  float up = vPlace.z - groundHeight;
  if (vColour.a < 0.5 || (vStripe.w < 0.0 && up < 0.01 * under.w)) discard; // a floor hides nothing from itself
  result = vec4(exp(-9.0 * max(vPlace.z - groundHeight, 0.0) / under.w));
}`;
const BLUR_FRAGMENT = `#version 300 es
precision highp float; in vec2 at; out vec4 result; uniform sampler2D picture; uniform vec2 way;
void main() {
  vec2 p = at * 0.5 + 0.5;
  float sum = 0.20 * texture(picture, p).r;
  for (int i = 1; i <= 4; i++) {
    float w = 0.2 * exp(-0.16 * float(i * i));
    sum += w * (texture(picture, p + float(i) * way).r + texture(picture, p - float(i) * way).r);
  }
  result = vec4(sum / 0.8614);
}`;
const GROUND_VERTEX = `#version 300 es
layout(location=0) in vec2 corner; uniform mat4 view; uniform vec3 centre; uniform float reach; out vec3 vPlace;
void main() { vPlace = vec3(centre.xy + reach * corner, centre.z); gl_Position = view * vec4(vPlace, 1.0); }`;
const GROUND_FRAGMENT = `#version 300 es
precision highp float; in vec3 vPlace; out vec4 result;
uniform vec3 centre, eye; uniform float reach, grid;
${LIGHT}
float lines(float size) {
  vec2 g = vPlace.xy / size, w = fwidth(g) * 1.15, d = abs(fract(g - 0.5) - 0.5);
  vec2 l = (1.0 - smoothstep(w * 0.5, w * 1.5, d)) * clamp(0.12 / max(w, 1e-4), 0.0, 1.0);
  return max(l.x, l.y);
}
void main() {
  float away = distance(vPlace.xy, centre.xy) / reach, far = smoothstep(0.10, 0.92, away);
  vec3 floorColour = mix(vec3(0.42, 0.43, 0.43), vec3(0.040, 0.044, 0.052), dark);
  vec3 lineColour = mix(vec3(0.20, 0.22, 0.24), vec3(0.12, 0.13, 0.15), dark);
  vec3 c = mix(floorColour, lineColour, 0.30 * lines(grid) + 0.42 * lines(10.0 * grid));
  float sun = lit(vPlace);
  vec3 seen = c * (mix(vec3(0.62, 0.66, 0.72), vec3(0.55), dark) * (1.0 - 0.80 * covered(vPlace.xy))
    + mix(vec3(1.10, 1.03, 0.92), vec3(0.55), dark) * sun);
  result = vec4(shown(mix(seen, skyOf(vec3(0.0)), far)), 1.0);
}`;
const SKY_VERTEX = `#version 300 es
layout(location=0) in vec2 corner; out vec2 at;
void main() { at = corner; gl_Position = vec4(corner, 0.9999, 1.0); }`;
const SKY_FRAGMENT = `#version 300 es
precision highp float; in vec2 at; out vec4 result; uniform vec3 right, up, back;
${LIGHT}
void main() {
  vec3 d = normalize(at.x * right + at.y * up - back);
  result = vec4(shown(skyOf(d)) + (noise(gl_FragCoord.xy) - 0.5) / 255.0, 1.0);
}`;

// ------------------------------------------------------------------------------------------------------------- drawing
const SIDES = 12; // of a round tube
const SUN = unit([-0.42, -0.5, 0.78]);
const ROLES_IN_THE_WAY = new Set(["decor"]); // they count for the room as far as they are near the rest
const UNDER = 1.4; // half of the width of what contact darkens, in radii of the room
const REST = 400; // ms after which a picture that did not change is drawn again as well as can be, in software

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
    this.grid = 10 ** Math.round(Math.log10(this.radius / 4));
    const from = plus(this.middle, SUN, 3 * this.radius);
    this.lightView = times(
      parallel(1.25 * this.radius, 0.5 * this.radius, 6 * this.radius), looking(from, this.middle),
    );
  }

  draw(look = {}) {
    clearTimeout(this.resting);
    this.drawn++;
    this.render(look, Boolean(look.fine));
    if (this.software && !look.fine) this.resting = setTimeout(() => this.render(look, true), REST);
  }

  render({ dark = false, ground = true, shadows = true, ties = true } = {}, fine) {
    const gl = this.gl, canvas = this.canvas;
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
    this.drawSky(dark, width / height);
    if (ground && eye[2] > this.groundHeight) this.drawGround(view, dark, soft, eye);
    for (const shading of [this.solidShading, this.bentShading]) {
      this.prepare(shading, view, dark, soft, ties);
      gl.uniform3fv(shading.at.eye, eye);
      gl.uniform1i(shading.at.painted, this.field ? 1 : 0);
      gl.uniform1i(shading.at.ramp, 3);
      gl.uniform1f(shading.at.pixel, (2 * Math.tan(FIELD_OF_VIEW / 2)) / height);
    }
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    for (const glass of [false, true]) {
      gl.depthMask(!glass);
      this.drawSolids(this.solidShading, glass);
      this.drawBent(this.bentShading, glass);
    }
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
    gl.polygonOffset(0, -16);
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

// -------------------------------------------------------------------------------------------------------------- shapes
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
