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
// Of each part five texels: position and whether it is shown; quaternion (x, y, z, w); colour and opacity; least half
// width (m), strands, roughness, kind (0 solid, 1 tube, 2 surface); colour of its stripe and the stripe's mode.
const PART_TEXELS = 5;
// Of each station three texels: centre and arc length in half widths; director (of a surface: normal) and level of the
// field (below 0: none); tangent.
const STATION_TEXELS = 3;
const ROW = 1020; // texels in a row of these textures: whole parts and whole stations

const FETCHED = `#version 300 es
precision highp float; precision highp int;
uniform highp sampler2D partData, stationData; uniform mat4 view; uniform float pixel; uniform bool ties;
vec4 texel(highp sampler2D data, int at) { return texelFetch(data, ivec2(at % ${ROW}, at / ${ROW}), 0); }
vec3 turned(vec4 q, vec3 v) { vec3 t = 2.0 * cross(q.xyz, v); return v + q.w * t + cross(q.xyz, t); }
out vec3 vPlace, vNormal, vAcross; out vec4 vColour; out float vLevel; flat out vec4 vLook, vStripe;
const vec4 NOWHERE = vec4(2.0, 2.0, 2.0, 1.0);`;
const SOLID_VERTEX = `${FETCHED}
layout(location=0) in vec3 position; layout(location=1) in vec3 normal; layout(location=2) in vec4 colour;
layout(location=3) in float part;
void main() {
  int at = ${PART_TEXELS} * int(part + 0.5);
  vec4 place = texel(partData, at), q = texel(partData, at + 1), own = texel(partData, at + 2);
  vLook = texel(partData, at + 3); vStripe = vec4(0.0);
  vPlace = place.xyz + turned(q, position); vNormal = turned(q, normal);
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
  vColour = own; vLevel = director.w;
  if (vLook.w > 1.5) {
    vPlace = centre.xyz; vNormal = director.xyz; vAcross = vec3(0.0, 0.0, 1e9);
  } else {
    vec3 d2 = cross(tangent, director.xyz), side = corner.z * director.xyz + corner.w * d2;
    vPlace = centre.xyz + corner.x * director.xyz + corner.y * d2;
    // never thinner than 1.7 pixels
    vPlace += side * max(0.0, 0.85 * pixel * (view * vec4(vPlace, 1.0)).w - vLook.x);
    vNormal = whose.z == 0.0 ? side : whose.z * tangent;
    vAcross = vec3(across, whose.z == 0.0 ? centre.w : 1e9);
  }
  gl_Position = place.w > (ties ? 0.25 : 0.75) ? view * vec4(vPlace, 1.0) : NOWHERE;
}`;
const LIGHT = `
uniform highp sampler2DShadow map; uniform mat4 lightView; uniform vec3 light; uniform float texelSize; uniform int taps;
float lit(vec3 p) {
  vec4 q = lightView * vec4(p, 1.0);
  vec3 s = q.xyz * 0.5 + 0.5;
  if (taps < 0 || any(lessThan(s, vec3(0.0))) || any(greaterThan(s, vec3(1.0)))) return 1.0;
  float sum = 0.0;
  for (int i = -taps; i <= taps; i++) for (int j = -taps; j <= taps; j++)
    sum += texture(map, vec3(s.xy + 1.6 * texelSize * vec2(i, j), s.z - 0.0015));
  return sum / float((2 * taps + 1) * (2 * taps + 1));
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec3 vPlace, vNormal, vAcross; in vec4 vColour; in float vLevel; flat in vec4 vLook, vStripe; out vec4 result;
uniform vec3 eye; uniform float dark; uniform bool painted; uniform sampler2D ramp;
${LIGHT}
vec3 sky(vec3 d) {
  vec3 a = mix(vec3(0.62, 0.60, 0.57),
    mix(vec3(0.93, 0.95, 0.97), vec3(0.55, 0.68, 0.82), smoothstep(0.0, 0.9, d.z)), smoothstep(-0.25, 0.12, d.z));
  a += 0.9 * smoothstep(0.80, 0.97, dot(d, light));
  return a * mix(1.0, 0.32, dark);
}
void main() {
  vec3 n = normalize(vNormal), e = normalize(eye - vPlace), c = vColour.rgb;
  if (dot(n, e) < 0.0) n = -n;
  float strands = vLook.y, rough = vLook.z, groove = 1.0;
  bool shaded = painted && vLevel > -0.5;
  if (shaded) {
    c = texture(ramp, vec2(clamp(vLevel, 0.002, 0.998), 0.5)).rgb;
  } else if (strands > 0.5 && vAcross.z < 1e8) {  // a laid rope: its strands wind round, with grooves between them
    float turn = strands * atan(vAcross.y, vAcross.x) - 1.1 * vAcross.z;
    float soft = 1.0 - smoothstep(0.5, 2.2, fwidth(1.1 * vAcross.z)), x = fract(turn / 6.2831853) * 2.0 - 1.0;
    vec3 rise = normalize(dFdx(vPlace) * dFdx(turn) + dFdy(vPlace) * dFdy(turn) + 1e-12);
    n = normalize(n + soft * 0.85 * x * abs(x) * rise);
    groove = mix(1.0, 1.0 - 0.62 * pow(abs(x), 5.0), soft);
    c *= 1.0 + 0.05 * soft * sin(9.0 * turn + 6.0 * vAcross.z);
  } else if (vStripe.w > 1.5 && vAcross.z < 1e8) {  // on the wide sides of a flat tube
    vec2 a = abs(vStripe.w < 2.5 ? vAcross.xy : vAcross.yx);
    float w = fwidth(a.y);
    if (a.x > 0.999) c = mix(vStripe.rgb, c, smoothstep(0.3 - w, 0.3 + w, a.y));
  } else if (vStripe.w > 0.5 && vAcross.z < 1e8) {
    float x = abs(normalize(vAcross.xy).x), w = max(fwidth(x), 1e-4);
    c = mix(c, vStripe.rgb, smoothstep(0.936 - w, 0.936 + w, x));
  }
  c = pow(c, vec3(2.2));
  float shade = lit(vPlace), up = 0.5 + 0.5 * n.z;
  vec3 around = mix(vec3(0.34, 0.31, 0.29), vec3(0.50, 0.56, 0.64), up) * mix(1.0, 0.62, dark);
  float sun = max(dot(n, light), 0.0) * shade;
  vec3 h = normalize(light + e);
  float fresnel = 0.04 + 0.96 * pow(1.0 - max(dot(n, e), 0.0), 5.0);
  vec3 mirrored = sky(reflect(-e, n)) * fresnel * (1.0 - rough) * 1.6;
  float shine = pow(max(dot(n, h), 0.0), mix(90.0, 12.0, rough)) * (1.0 - rough) * 0.5 * shade;
  vec3 seen = groove * (c * (around + 0.95 * sun * vec3(1.0, 0.96, 0.90)) + mirrored + shine);
  seen = seen * (2.51 * seen + 0.03) / (seen * (2.43 * seen + 0.59) + 0.14) * 1.06;
  result = vec4(pow(clamp(seen, 0.0, 1.0), vec3(1.0 / 2.2)), 1.0) * vColour.a;
}`;
const DEPTH_FRAGMENT = `#version 300 es
precision highp float; in vec4 vColour; void main() { if (vColour.a < 0.5) discard; }`;
const GROUND_VERTEX = `#version 300 es
layout(location=0) in vec2 corner; uniform mat4 view; uniform vec3 centre; uniform float reach; out vec3 vPlace;
void main() { vPlace = vec3(centre.xy + reach * corner, centre.z); gl_Position = view * vec4(vPlace, 1.0); }`;
const GROUND_FRAGMENT = `#version 300 es
precision highp float; in vec3 vPlace; out vec4 result;
uniform vec3 centre, paper, floorColour, lineColour; uniform float reach, grid;
${LIGHT}
float lines(float size) {
  vec2 g = vPlace.xy / size, w = fwidth(g) * 1.1, d = abs(fract(g - 0.5) - 0.5);
  vec2 l = (1.0 - smoothstep(w * 0.5, w * 1.5, d)) * clamp(0.12 / max(w, 1e-4), 0.0, 1.0);
  return max(l.x, l.y);
}
void main() {
  float far = smoothstep(0.12, 0.75, distance(vPlace.xy, centre.xy) / reach);
  vec3 c = mix(floorColour, lineColour, 0.16 * lines(grid) + 0.26 * lines(10.0 * grid));
  c *= mix(0.60, 1.0, lit(vPlace));
  result = vec4(mix(c, paper, far), 1.0);
}`;
const SKY_VERTEX = `#version 300 es
layout(location=0) in vec2 corner; out vec2 at;
void main() { at = vec2(corner.x, corner.y); gl_Position = vec4(corner, 0.9999, 1.0); }`;
const SKY_FRAGMENT = `#version 300 es
precision highp float; in vec2 at; out vec4 result; uniform vec3 paper, top; uniform float horizon;
void main() { result = vec4(mix(paper, top, smoothstep(0.0, 1.3, at.y - horizon)), 1.0); }`;

// ------------------------------------------------------------------------------------------------------------- drawing
const SIDES = 12; // of a round tube
const SUN = unit([-0.42, -0.5, 0.78]);
const ROLES_IN_THE_WAY = new Set(["decor"]); // they count for the room as far as they are near the rest
const LOOKS = { laid: { strands: 3, rough: 0.8 } };

class Drawing {
  constructor(canvas, { software = false } = {}) {
    const gl = canvas.getContext("webgl2", {
      antialias: !software, alpha: false, powerPreference: "high-performance",
    });
    if (!gl) throw new Error("This browser can't draw in three dimensions: it has no WebGL 2, or it is switched off.");
    this.gl = gl;
    this.canvas = canvas;
    this.software = software;
    this.camera = new Camera(canvas);
    this.parts = [];
    this.groups = [];
    this.field = null;
    this.mapSize = software ? 512 : 2048;
    this.taps = software ? 0 : 2;
    this.sharpness = 1;
    this.drawn = 0; // pictures
    this.solidShading = this.program(SOLID_VERTEX, FRAGMENT);
    this.bentShading = this.program(BENT_VERTEX, FRAGMENT);
    this.solidDepth = this.program(SOLID_VERTEX, DEPTH_FRAGMENT);
    this.bentDepth = this.program(BENT_VERTEX, DEPTH_FRAGMENT);
    this.groundShading = this.program(GROUND_VERTEX, GROUND_FRAGMENT);
    this.skyShading = this.program(SKY_VERTEX, SKY_FRAGMENT);
    this.groundShape = this.shape([[0, 2, new Float32Array([-1, -1, 1, -1, 1, 1, -1, -1, 1, 1, -1, 1])]]);
    this.skyShape = this.shape([[0, 2, new Float32Array([-1, -1, 3, -1, -1, 3])]]);
    this.partTexture = this.texture();
    this.stationTexture = this.texture();
    this.rampTexture = this.texture(gl.LINEAR);
    this.paint(null);
    this.makeShadowMap();
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
    const look = LOOKS[part.look] || { strands: 0, rough: 0.55 }, at = 4 * PART_TEXELS * part.number;
    const half = part.half || [0, 0], kind = { solid: 0, tube: 1, surface: 2 }[part.kind];
    const mode = !part.stripe ? 0 : !part.rectangular ? 1 : half[0] < half[1] ? 2 : 3;
    this.partData.set([0, 0, 0, 1], at + 4);
    this.partData.set([...part.colour.map((c) => c / 255), part.opacity], at + 8);
    this.partData.set([Math.min(...half), look.strands, part.roughness ?? look.rough, kind], at + 12);
    this.partData.set([...(part.stripe || [0, 0, 0]).map((c) => c / 255), mode], at + 16);
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
    this.groundHeight = ground ?? low[2] - 0.04 * this.radius;
    this.reach = 14 * this.radius;
    this.grid = 10 ** Math.round(Math.log10(this.radius / 4));
    const from = plus(this.middle, SUN, 3 * this.radius);
    this.lightView = times(
      parallel(1.25 * this.radius, 0.5 * this.radius, 6 * this.radius), looking(from, this.middle),
    );
  }

  draw({ dark = false, ground = true, shadows = true, ties = true } = {}) {
    const gl = this.gl, canvas = this.canvas, ratio = this.sharpness * Math.min(devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    gl.activeTexture(gl.TEXTURE1);
    this.upload(this.partTexture, this.partData);
    gl.activeTexture(gl.TEXTURE2);
    this.upload(this.stationTexture, this.stationData);
    gl.activeTexture(gl.TEXTURE3);
    gl.bindTexture(gl.TEXTURE_2D, this.rampTexture);
    gl.activeTexture(gl.TEXTURE0);
    gl.enable(gl.DEPTH_TEST);
    if (shadows) this.drawShadows(ties);
    const { eye, distance, pitch } = this.camera, far = distance + 3 * this.reach;
    const view = this.camera.projection(Math.max(distance / 200, far / 1e5), far);
    const paper = colourOf(dark ? "#1a1f26" : "#e9eef3");
    gl.viewport(0, 0, width, height);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.drawSky(dark, paper, Math.tan(-pitch) / -Math.tan(FIELD_OF_VIEW / 2));
    gl.bindTexture(gl.TEXTURE_2D, this.shadowMap);
    if (ground && eye[2] > this.groundHeight) this.drawGround(view, dark, paper, shadows);
    for (const shading of [this.solidShading, this.bentShading]) {
      this.prepare(shading, view, shadows, ties);
      gl.uniform3fv(shading.at.eye, eye);
      gl.uniform1f(shading.at.dark, dark ? 1 : 0);
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
    this.drawn++;
  }

  prepare(shading, view, shadows, ties) {
    const gl = this.gl, at = shading.at;
    gl.useProgram(shading.p);
    gl.uniformMatrix4fv(at.view, false, view);
    if (at.lightView) gl.uniformMatrix4fv(at.lightView, false, this.lightView);
    if (at.texelSize) gl.uniform1f(at.texelSize, 1 / this.mapSize);
    if (at.taps) gl.uniform1i(at.taps, shadows ? this.taps : -1);
    if (at.light) gl.uniform3fv(at.light, SUN);
    if (at.map) gl.uniform1i(at.map, 0);
    if (at.partData) gl.uniform1i(at.partData, 1);
    if (at.stationData) gl.uniform1i(at.stationData, 2);
    if (at.ties) gl.uniform1i(at.ties, ties ? 1 : 0);
  }

  drawShadows(ties) {
    const gl = this.gl;
    gl.bindTexture(gl.TEXTURE_2D, null); // it must not be read while it is written
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowFrame);
    gl.viewport(0, 0, this.mapSize, this.mapSize);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(2, 4);
    for (const [shading, draw] of [[this.solidDepth, this.drawSolids], [this.bentDepth, this.drawBent]]) {
      this.prepare(shading, this.lightView, true, ties);
      if (shading.at.pixel) gl.uniform1f(shading.at.pixel, 0);
      draw.call(this, shading, false);
      draw.call(this, shading, true);
    }
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  drawSky(dark, paper, horizon) {
    const gl = this.gl, { p, at } = this.skyShading;
    gl.useProgram(p);
    gl.uniform3fv(at.paper, paper);
    gl.uniform3fv(at.top, colourOf(dark ? "#0c0f13" : "#b9cbdb"));
    gl.uniform1f(at.horizon, horizon);
    gl.bindVertexArray(this.skyShape.vao);
    gl.depthMask(false);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.depthMask(true);
  }

  drawGround(view, dark, paper, shadows) {
    const gl = this.gl, { at } = this.groundShading;
    this.prepare(this.groundShading, view, shadows, true);
    gl.uniform3fv(at.centre, [this.middle[0], this.middle[1], this.groundHeight]);
    gl.uniform3fv(at.paper, paper);
    gl.uniform3fv(at.floorColour, colourOf(dark ? "#232932" : "#dde3e8"));
    gl.uniform3fv(at.lineColour, colourOf(dark ? "#3d4653" : "#b9c3cc"));
    gl.uniform1f(at.reach, this.reach);
    gl.uniform1f(at.grid, this.grid);
    gl.bindVertexArray(this.groundShape.vao);
    gl.drawArrays(gl.TRIANGLES, 0, 6);
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
