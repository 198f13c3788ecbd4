"use strict";
// Plays the recording that is in the page: decodes its frames, makes triangles of them, draws them with WebGL.
(async () => {
const $ = (id) => document.getElementById(id);
const stop = (text) => { $("problem").textContent = text; $("problem").hidden = false; throw new Error(text); };
const H = JSON.parse($("header").textContent);
$("title").textContent = H.title;

// ------------------------------------------------------------------------------------------------------------ data
if (typeof DecompressionStream === "undefined") stop("This browser is too old to play the recording.");
const packed = Uint8Array.from(atob($("data").textContent), (c) => c.charCodeAt(0));
$("data").textContent = "";
const raw = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
const TYPES = { u1: Uint8Array, i1: Int8Array, u2: Uint16Array, i2: Int16Array, u4: Uint32Array, f4: Float32Array };
const read = (a) => new TYPES[a.type](raw, a.at, a.length);
const moving = (a) => {  // differences from frame to frame, added up; whole numbers go round by themselves
  const v = read(a);
  for (let i = a.row; i < v.length; i++) v[i] += v[i - a.row];
  return { v, row: a.row, low: a.low, step: a.step };
};
// Coordinates of frame k + f (0 <= f < 1), between two frames in proportion, into out.
const places = (a, k, f, out) => {
  const n = a.row, i = k * n, j = Math.min(k + 1, H.count - 1) * n;
  for (let m = 0; m < n; m++) out[m] = a.low[m % 3] + a.step * (a.v[i + m] + f * (a.v[j + m] - a.v[i + m]));
};
const parts = H.parts.map((p) => {
  const q = { ...p };
  for (const key of ["shown", "position", "quaternion", "centres", "directors", "vertices"]) if (p[key]) q[key] = moving(p[key]);
  for (const key of ["faces", "corners", "normals", "colours"]) if (p[key]) q[key] = read(p[key]);
  q.fields = Object.fromEntries(Object.entries(p.fields || {}).map(([name, a]) => [name, moving(a)]));
  return q;
});

// ------------------------------------------------------------------------------------------------------- small algebra
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const unit = (a) => { const s = Math.hypot(...a) || 1; return [a[0] / s, a[1] / s, a[2] / s]; };
const times = (a, b) => {  // matrices, column after column
  const c = new Float32Array(16);
  for (let j = 0; j < 4; j++) for (let i = 0; i < 4; i++) {
    let s = 0;
    for (let k = 0; k < 4; k++) s += a[4 * k + i] * b[4 * j + k];
    c[4 * j + i] = s;
  }
  return c;
};
const looking = (eye, target) => {
  const z = unit(sub(eye, target)), x = unit(cross([0, 0, 1], z)), y = cross(z, x);
  return new Float32Array([x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0,
    -dot(x, eye), -dot(y, eye), -dot(z, eye), 1]);
};
const perspective = (angle, aspect, near, far) => {
  const f = 1 / Math.tan(angle / 2);
  return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0,
    2 * far * near / (near - far), 0]);
};
const parallel = (r, near, far) => new Float32Array([1 / r, 0, 0, 0, 0, 1 / r, 0, 0, 0, 0, -2 / (far - near), 0, 0, 0,
  -(far + near) / (far - near), 1]);
const IDENTITY = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);

// ----------------------------------------------------------------------------------------------------------- shaders
const canvas = $("view");
const gl = canvas.getContext("webgl2", { antialias: true, alpha: false });
if (!gl) stop("This browser cannot draw in three dimensions (WebGL 2), which the recording needs.");
const SHADOW = `
uniform highp sampler2DShadow map; uniform mat4 lightView; uniform vec3 light; uniform float texel;
float lit(vec3 p) {
  vec4 q = lightView * vec4(p, 1.0);
  vec3 s = q.xyz * 0.5 + 0.5;
  if (any(lessThan(s, vec3(0.0))) || any(greaterThan(s, vec3(1.0)))) return 1.0;
  float sum = 0.0;
  for (int i = -2; i <= 2; i++) for (int j = -2; j <= 2; j++)
    sum += texture(map, vec3(s.xy + 2.2 * texel * vec2(i, j), s.z - 0.0015));
  return sum / 25.0;
}`;
const VERTEX = `#version 300 es
in vec3 position; in vec3 normal; in vec3 colour; in vec2 across;
uniform mat4 view, model;
out vec3 vPlace, vNormal, vColour; out vec2 vAcross;
void main() {
  vec4 p = model * vec4(position, 1.0);
  vPlace = p.xyz; vNormal = mat3(model) * normal; vColour = colour; vAcross = across;
  gl_Position = view * p;
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec3 vPlace, vNormal, vColour; in vec2 vAcross; out vec4 result;
uniform vec3 eye, stripe; uniform float opacity, dark; uniform int striped;
${SHADOW}
void main() {
  vec3 n = normalize(vNormal), e = normalize(eye - vPlace);
  if (dot(n, e) < 0.0) n = -n;
  vec3 c = vColour;
  if (striped == 1) {
    float x = abs(normalize(vAcross).x), w = max(fwidth(x), 1e-4);
    c = mix(c, stripe, smoothstep(0.936 - w, 0.936 + w, x));
  } else if (striped >= 2) {  // on the wide sides of a flat tube
    vec2 a = abs(striped == 2 ? vAcross : vAcross.yx);
    float w = fwidth(a.y);
    if (a.x > 0.999) c = mix(stripe, c, smoothstep(0.3 - w, 0.3 + w, a.y));
  }
  c = pow(c, vec3(2.2));
  float up = 0.5 + 0.5 * n.z, shade = lit(vPlace);
  vec3 sky = mix(vec3(0.30, 0.28, 0.27), vec3(0.56, 0.59, 0.63), up) * mix(1.0, 0.82, dark);
  float sun = max(dot(n, light), 0.0) * shade;
  vec3 h = normalize(light + e);
  float shine = pow(max(dot(n, h), 0.0), 42.0) * 0.22 * shade;
  float rim = pow(1.0 - max(dot(n, e), 0.0), 3.0) * 0.07;
  vec3 seen = c * (sky + 0.80 * sun * vec3(1.0, 0.97, 0.92)) + shine + rim * vec3(0.8, 0.9, 1.0);
  result = vec4(pow(min(seen, 1.0), vec3(1.0 / 2.2)), 1.0) * opacity;
}`;
const GROUND_VERTEX = `#version 300 es
in vec3 position; uniform mat4 view; out vec3 vPlace;
void main() { vPlace = position; gl_Position = view * vec4(position, 1.0); }`;
const GROUND = `#version 300 es
precision highp float;
in vec3 vPlace; out vec4 result;
uniform vec3 centre, paper, floorColour, lineColour; uniform float reach, grid;
${SHADOW}
float lines(float size) {
  vec2 g = vPlace.xy / size, w = fwidth(g) * 1.1, d = abs(fract(g - 0.5) - 0.5);
  vec2 l = (1.0 - smoothstep(w * 0.5, w * 1.5, d)) * clamp(0.35 / max(w, 1e-4) * 0.35, 0.0, 1.0);
  return max(l.x, l.y);
}
void main() {
  float far = smoothstep(0.35, 1.0, distance(vPlace.xy, centre.xy) / reach);
  vec3 c = mix(floorColour, lineColour, 0.32 * lines(grid) + 0.4 * lines(10.0 * grid));
  c *= mix(0.70, 1.0, lit(vPlace));
  result = vec4(mix(c, paper, far), 1.0);
}`;
const DEPTH = `#version 300 es
precision highp float; void main() {}`;
const program = (vertex, fragment) => {
  const p = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const s = gl.createShader(kind);
    gl.shaderSource(s, text); gl.compileShader(s);
    if (!gl.getShaderParameter(s, gl.COMPILE_STATUS)) stop(gl.getShaderInfoLog(s));
    gl.attachShader(p, s);
  }
  ["position", "normal", "colour", "across"].forEach((name, k) => gl.bindAttribLocation(p, k, name));
  gl.linkProgram(p);
  if (!gl.getProgramParameter(p, gl.LINK_STATUS)) stop(gl.getProgramInfoLog(p));
  const at = {};
  for (let k = 0; k < gl.getProgramParameter(p, gl.ACTIVE_UNIFORMS); k++) {
    const name = gl.getActiveUniform(p, k).name;
    at[name] = gl.getUniformLocation(p, name);
  }
  return { p, at };
};
const shading = program(VERTEX, FRAGMENT), ground = program(GROUND_VERTEX, GROUND), depth = program(VERTEX, DEPTH);

// ------------------------------------------------------------------------------------------------------------ meshes
const SIDES = 14;
const outline = (p) => {  // corners of a section along d1 and d2, with normals
  const [a, b] = p.half, found = [];
  if (p.rectangular) {
    const corners = [[1, -1], [1, 1], [1, 1], [-1, 1], [-1, 1], [-1, -1], [-1, -1], [1, -1]];
    const normals = [[1, 0], [0, 1], [-1, 0], [0, -1]];
    corners.forEach(([x, y], k) => found.push([x * a, y * b, ...normals[k >> 1], x, y]));
  } else {
    for (let k = 0; k < SIDES; k++) {
      const x = Math.cos(2 * Math.PI * k / SIDES), y = Math.sin(2 * Math.PI * k / SIDES), s = Math.hypot(x / a, y / b);
      found.push([x * a, y * b, x / a / s, y / b / s, x, y]);
    }
  }
  return found;
};
const tubeFaces = (p, k) => {
  const edges = p.rectangular ? [0, 2, 4, 6] : [...Array(k).keys()], f = [];
  for (let i = 0; i + 1 < p.count; i++) for (const e of edges) {
    const a = i * k + e, b = i * k + (e + 1) % k;
    f.push(a, b, b + k, a, b + k, a + k);
  }
  if (!p.closed) for (const [ring, turn] of [[p.count, false], [p.count + 1, true]]) {
    for (let e = 1; e + 1 < k; e++) f.push(ring * k, ring * k + (turn ? e : e + 1), ring * k + (turn ? e + 1 : e));
  }
  return new Uint32Array(f);
};
const buffer = (target, data) => {
  const b = gl.createBuffer();
  gl.bindBuffer(target, b); gl.bufferData(target, data, gl.DYNAMIC_DRAW);
  return b;
};
const attribute = (k, size, data, type, normalised) => {
  const b = buffer(gl.ARRAY_BUFFER, data);
  gl.enableVertexAttribArray(k); gl.vertexAttribPointer(k, size, type || gl.FLOAT, !!normalised, 0, 0);
  return b;
};
for (const p of parts) {
  p.vao = gl.createVertexArray(); gl.bindVertexArray(p.vao);
  p.model = IDENTITY;
  if (p.kind === "solid") {
    p.size = p.corners.length / 3;
    attribute(0, 3, p.corners); attribute(1, 3, p.normals); attribute(2, 3, p.colours, gl.UNSIGNED_BYTE, true);
    continue;
  }
  if (p.kind === "tube") {
    p.outline = outline(p);
    const k = p.outline.length;
    p.size = k * (p.count + (p.closed ? 0 : 2));
    p.indices = tubeFaces(p, k);
    p.line = new Float32Array(3 * p.count);
    const uv = new Float32Array(2 * p.size);  // caps have no stripe
    for (let i = 0; i < p.count; i++) for (let e = 0; e < k; e++) uv.set(p.outline[e].slice(4), 2 * (i * k + e));
    for (let i = p.count * k; i < p.size; i++) uv.set(p.rectangular ? [0.5, 0.5] : [0, 1], 2 * i);
    attribute(3, 2, uv);
  } else {
    p.size = p.count; p.indices = p.faces; p.line = new Float32Array(3 * p.count);
  }
  p.points = new Float32Array(3 * p.size); p.turned = new Float32Array(3 * p.size); p.painted = new Uint8Array(3 * p.size);
  p.buffers = [attribute(0, 3, p.points), attribute(1, 3, p.turned), attribute(2, 3, p.painted, gl.UNSIGNED_BYTE, true)];
  buffer(gl.ELEMENT_ARRAY_BUFFER, p.indices);
}
gl.bindVertexArray(null);

const bendTube = (p, k, f) => {
  places(p.centres, k, f, p.line);
  const c = p.line, n = p.count, m = p.outline.length, d = p.directors, i0 = k * d.row, i1 = Math.min(k + 1, H.count - 1) * d.row;
  // What is thinner than a pixel is drawn as wide as one.
  const pixel = 2 * camera.distance * Math.tan(FIELD_OF_VIEW / 2) / canvas.clientHeight;
  const wider = Math.max(1, 0.9 * pixel / Math.max(...p.half));
  let last = [1, 0, 0];
  for (let i = 0; i < n; i++) {
    const [a, b] = p.closed && (i === 0 || i === n - 1) ? [n - 2, 1] : [Math.max(i - 1, 0), Math.min(i + 1, n - 1)];
    let t = [c[3 * b] - c[3 * a], c[3 * b + 1] - c[3 * a + 1], c[3 * b + 2] - c[3 * a + 2]];
    const size = Math.hypot(...t);
    t = size > 1e-12 ? [t[0] / size, t[1] / size, t[2] / size] : last;
    last = t;
    let d1 = [0, 1, 2].map((x) => d.v[i0 + 3 * i + x] * (1 - f) + d.v[i1 + 3 * i + x] * f);
    const along = dot(d1, t);
    d1 = unit([d1[0] - along * t[0], d1[1] - along * t[1], d1[2] - along * t[2]]);
    const d2 = cross(t, d1);
    for (let e = 0; e < m; e++) {
      const o = p.outline[e], at = 3 * (i * m + e);
      for (let x = 0; x < 3; x++) {
        p.points[at + x] = c[3 * i + x] + wider * (o[0] * d1[x] + o[1] * d2[x]);
        p.turned[at + x] = o[2] * d1[x] + o[3] * d2[x];
      }
    }
    if (!p.closed && (i === 0 || i === n - 1)) {
      const from = 3 * i * m, to = 3 * m * (i === 0 ? n : n + 1), sign = i === 0 ? -1 : 1;
      for (let e = 0; e < 3 * m; e++) { p.points[to + e] = p.points[from + e]; p.turned[to + e] = sign * t[e % 3]; }
    }
  }
};
const bendSurface = (p, k, f) => {
  places(p.vertices, k, f, p.points);
  const v = p.points, n = p.turned;
  n.fill(0);
  for (let i = 0; i < p.faces.length; i += 3) {
    const a = 3 * p.faces[i], b = 3 * p.faces[i + 1], c = 3 * p.faces[i + 2];
    const w = cross([v[b] - v[a], v[b + 1] - v[a + 1], v[b + 2] - v[a + 2]], [v[c] - v[a], v[c + 1] - v[a + 1], v[c + 2] - v[a + 2]]);
    for (const j of [a, b, c]) { n[j] += w[0]; n[j + 1] += w[1]; n[j + 2] += w[2]; }
  }
};
const paint = (p, k, field) => {
  const a = field && p.fields[field], m = p.kind === "tube" ? p.outline.length : 1;
  if (!a) { for (let i = 0; i < p.painted.length; i++) p.painted[i] = p.colour[i % 3]; return; }
  const ramp = H.ramps[H.fields[field].ramp];
  for (let i = 0; i < p.size; i++) {
    let s = Math.floor(i / m);
    if (s >= p.count) s = s === p.count ? 0 : p.count - 1;
    const at = 3 * a.v[k * a.row + s];
    p.painted[3 * i] = ramp[at]; p.painted[3 * i + 1] = ramp[at + 1]; p.painted[3 * i + 2] = ramp[at + 2];
  }
};
const turn = (p, k, f) => {
  const out = [0, 0, 0], q = [0, 0, 0, 0], j = Math.min(k + 1, H.count - 1), v = p.quaternion.v;
  places(p.position, k, f, out);
  let same = 0;
  for (let x = 0; x < 4; x++) same += v[4 * k + x] * v[4 * j + x];
  for (let x = 0; x < 4; x++) q[x] = v[4 * k + x] * (1 - f) + Math.sign(same || 1) * v[4 * j + x] * f;
  const s = Math.hypot(...q) || 1, [w, x, y, z] = q.map((c) => c / s);
  return new Float32Array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y), 0,
    2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x), 0,
    2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y), 0, out[0], out[1], out[2], 1]);
};

// ----------------------------------------------------------------------------------------------- light, ground, camera
const low = H.low, high = H.high, middle = low.map((x, i) => (x + high[i]) / 2);
const radius = Math.max(Math.hypot(...sub(high, low)) / 2, 1e-6);
const SUN = unit([-0.42, -0.36, 0.84]), MAP = 2048;
const lightEye = middle.map((x, i) => x + 3 * radius * SUN[i]);
const lightView = times(parallel(1.25 * radius, 0.5 * radius, 6 * radius), looking(lightEye, middle));
const shadowMap = gl.createTexture();
gl.bindTexture(gl.TEXTURE_2D, shadowMap);
gl.texImage2D(gl.TEXTURE_2D, 0, gl.DEPTH_COMPONENT24, MAP, MAP, 0, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, null);
for (const [name, value] of [[gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
  [gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE], [gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL],
  [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) gl.texParameteri(gl.TEXTURE_2D, name, value);
const shadowFrame = gl.createFramebuffer();
gl.bindFramebuffer(gl.FRAMEBUFFER, shadowFrame);
gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, shadowMap, 0);
gl.drawBuffers([gl.NONE]);
gl.bindFramebuffer(gl.FRAMEBUFFER, null);
const groundZ = H.ground ?? low[2] - 0.002 * radius, reach = 9 * radius;
const groundVao = gl.createVertexArray();
gl.bindVertexArray(groundVao);
attribute(0, 3, new Float32Array([[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]].flatMap(
  ([x, y]) => [middle[0] + x * reach, middle[1] + y * reach, groundZ])));
gl.bindVertexArray(null);
const grid = 10 ** Math.floor(Math.log10(radius / 1.5));

const FIELD_OF_VIEW = Math.PI / 4;
let camera;
const home = () => {
  const way = sub(H.eye, H.target), aspect = innerWidth / innerHeight;
  const yaw = Math.atan2(way[1], way[0]), pitch = Math.asin(way[2] / Math.hypot(...way));
  camera = { target: [...H.target], distance: Math.hypot(...way), yaw, pitch };
  if (!H.fitted) return;
  // As near as leaves all boxes round parts in the picture, with a margin, more of it where the controls are.
  const z = unit(way), x = unit(cross([0, 0, 1], z)), y = cross(z, x), slope = Math.tan(FIELD_OF_VIEW / 2);
  camera.distance = 0;
  for (const place of H.boxes) {
    const corner = sub(place, H.target), up = dot(corner, y);
    const wide = Math.abs(dot(corner, x)) / (0.9 * slope * aspect), tall = Math.abs(up) / ((up < 0 ? 0.74 : 0.86) * slope);
    camera.distance = Math.max(camera.distance, dot(corner, z) + Math.max(wide, tall));
  }
};
home();
// Where things go far, the camera goes along.
const drift = H.drift && read(H.drift);
const drifted = (k, f) => [0, 1, 2].map((i) => {
  if (!drift) return 0;
  const next = 3 * Math.min(k + 1, H.count - 1) + i;
  return drift[3 * k + i] + f * (drift[next] - drift[3 * k + i]);
});
const eyeOf = (c) => [c.target[0] + c.distance * Math.cos(c.pitch) * Math.cos(c.yaw),
  c.target[1] + c.distance * Math.cos(c.pitch) * Math.sin(c.yaw), c.target[2] + c.distance * Math.sin(c.pitch)];

// ------------------------------------------------------------------------------------------------------------ drawing
let dark = matchMedia("(prefers-color-scheme: dark)").matches, field = "", cursor = 0, playing = H.count > 1, stale = true;
const duration = (H.count - 1) / H.fps;
const hex = (text) => [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16) / 255);
const draw = () => {
  const width = Math.round(canvas.clientWidth * Math.min(devicePixelRatio, 2));
  const height = Math.round(canvas.clientHeight * Math.min(devicePixelRatio, 2));
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  const exact = Math.min(cursor * H.fps, H.count - 1), k = Math.floor(exact + 1e-6), f = Math.max(exact - k, 0);
  const seen = parts.filter((p) => p.shown.v[k]);
  for (const p of seen) {
    if (p.kind === "solid") { p.model = turn(p, k, f); continue; }
    if (p.kind === "tube") bendTube(p, k, f); else bendSurface(p, k, f);
    paint(p, f > 0.5 ? Math.min(k + 1, H.count - 1) : k, field);
    [p.points, p.turned, p.painted].forEach((data, j) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, p.buffers[j]); gl.bufferSubData(gl.ARRAY_BUFFER, 0, data);
    });
  }
  const mesh = (p, at) => {
    gl.uniformMatrix4fv(at.model, false, p.model);
    gl.bindVertexArray(p.vao);
    if (p.kind === "solid") gl.drawArrays(gl.TRIANGLES, 0, p.size);
    else gl.drawElements(gl.TRIANGLES, p.indices.length, gl.UNSIGNED_INT, 0);
  };
  gl.enable(gl.DEPTH_TEST);
  gl.bindFramebuffer(gl.FRAMEBUFFER, shadowFrame);
  gl.viewport(0, 0, MAP, MAP); gl.clear(gl.DEPTH_BUFFER_BIT);
  gl.useProgram(depth.p); gl.uniformMatrix4fv(depth.at.view, false, lightView);
  gl.enable(gl.POLYGON_OFFSET_FILL); gl.polygonOffset(2, 4);
  for (const p of seen) if (p.opacity > 0.5) mesh(p, depth.at);
  gl.disable(gl.POLYGON_OFFSET_FILL);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);

  const paper = hex(dark ? "#14171c" : "#eef1f4");
  gl.viewport(0, 0, width, height); gl.clearColor(...paper, 1); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  const along = drifted(k, f), eye = eyeOf(camera).map((x, i) => x + along[i]), far = camera.distance + 3 * reach;
  const view = times(perspective(FIELD_OF_VIEW, width / height, Math.max(camera.distance / 200, far / 1e5), far),
    looking(eye, camera.target.map((x, i) => x + along[i])));
  for (const s of [ground, shading]) {
    gl.useProgram(s.p);
    gl.uniformMatrix4fv(s.at.view, false, view); gl.uniformMatrix4fv(s.at.lightView, false, lightView);
    gl.uniform1f(s.at.texel, 1 / MAP); gl.uniform1i(s.at.map, 0);
    if (s.at.light) gl.uniform3fv(s.at.light, SUN);
  }
  gl.activeTexture(gl.TEXTURE0); gl.bindTexture(gl.TEXTURE_2D, shadowMap);
  if (eye[2] > groundZ) {
    gl.useProgram(ground.p); gl.bindVertexArray(groundVao);
    gl.uniform3fv(ground.at.centre, middle); gl.uniform3fv(ground.at.paper, paper);
    gl.uniform3fv(ground.at.floorColour, hex(dark ? "#20252d" : "#e2e6ea"));
    gl.uniform3fv(ground.at.lineColour, hex(dark ? "#39414d" : "#c9d0d7"));
    gl.uniform1f(ground.at.reach, reach); gl.uniform1f(ground.at.grid, grid);
    gl.drawArrays(gl.TRIANGLES, 0, 6);
  }
  gl.useProgram(shading.p);
  gl.uniform3fv(shading.at.eye, eye); gl.uniform1f(shading.at.dark, dark ? 1 : 0);
  gl.enable(gl.BLEND); gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  for (const p of [...seen].sort((a, b) => b.opacity - a.opacity)) {
    gl.uniform1f(shading.at.opacity, p.opacity); gl.depthMask(p.opacity >= 1);
    gl.uniform1i(shading.at.striped, p.stripe && !(field && p.fields[field]) ? (!p.rectangular ? 1 : p.half[0] < p.half[1] ? 2 : 3) : 0);
    if (p.stripe) gl.uniform3fv(shading.at.stripe, p.stripe.map((c) => c / 255));
    mesh(p, shading.at);
  }
  gl.depthMask(true); gl.disable(gl.BLEND);
};

// ------------------------------------------------------------------------------------------------------------ controls
const digits = duration < 10 ? 2 : 1;
const say = () => {
  $("time").textContent = `${(H.start + cursor).toFixed(digits)} / ${(H.start + duration).toFixed(digits)} s`;
  $("scrub").value = cursor; $("play").classList.toggle("playing", playing);
};
const seek = (time) => { cursor = Math.min(Math.max(time, 0), duration); stale = true; say(); };
const toggle = (on) => { playing = (on === undefined ? !playing : on) && H.count > 1; if (playing && cursor >= duration) cursor = 0; stale = true; say(); };
const theme = (on) => { dark = on; document.documentElement.classList.toggle("dark", dark); stale = true; };
const number = (x) => Math.abs(x) >= 1e4 || (x && Math.abs(x) < 1e-2) ? x.toExponential(1) : String(+x.toPrecision(3));
const colourBy = (name) => {
  field = name; stale = true; $("colour").value = name; $("legend").hidden = !name;
  if (!name) return;
  const a = H.fields[name], pixels = new ImageData(256, 1), ramp = H.ramps[a.ramp];
  for (let i = 0; i < 256; i++) pixels.data.set([ramp[3 * i], ramp[3 * i + 1], ramp[3 * i + 2], 255], 4 * i);
  $("ramp").getContext("2d").putImageData(pixels, 0, 0);
  $("legend-name").textContent = `${name} (${a.unit})`;
  $("legend-low").textContent = number(a.low); $("legend-high").textContent = number(a.high);
};
$("scrub").max = duration; $("scrub").oninput = (e) => { playing = false; seek(+e.target.value); };
$("scrub").onpointerdown = () => toggle(false); // where it is already there is no input
$("play").onclick = () => toggle();
$("theme").onclick = () => theme(!dark);
$("home").onclick = () => { home(); stale = true; };
for (const [value, text] of [["", "colours"], ...Object.keys(H.fields).map((name) => [name, name])]) $("colour").add(new Option(text, value));
$("colour").onchange = (e) => colourBy(e.target.value);
$("colour-label").hidden = !Object.keys(H.fields).length;
addEventListener("resize", () => { stale = true; });
addEventListener("keydown", (e) => {
  if (e.target.tagName === "SELECT") return;
  const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
  if (e.key === " ") { e.preventDefault(); if (e.target.tagName === "BUTTON") e.target.blur(); toggle(); }
  else if (step) { e.preventDefault(); playing = false; seek((Math.round(cursor * H.fps) + step) / H.fps); }
  else if (e.key === "Home") seek(0); else if (e.key === "End") seek(duration);
});
const fingers = new Map();
const pan = (dx, dy) => {
  const scale = 2 * camera.distance * Math.tan(FIELD_OF_VIEW / 2) / canvas.clientHeight;
  const z = unit(sub(eyeOf(camera), camera.target)), x = unit(cross([0, 0, 1], z)), y = cross(z, x);
  for (let i = 0; i < 3; i++) camera.target[i] += scale * (dy * y[i] - dx * x[i]);
};
const zoom = (factor) => { camera.distance = Math.min(Math.max(camera.distance * factor, 0.02 * radius), 30 * radius); stale = true; };
canvas.oncontextmenu = (e) => e.preventDefault();
canvas.ondblclick = () => { home(); stale = true; };
canvas.onpointerdown = (e) => { canvas.setPointerCapture(e.pointerId); fingers.set(e.pointerId, [e.clientX, e.clientY]); canvas.classList.add("held"); };
canvas.onpointerup = canvas.onpointercancel = (e) => { fingers.delete(e.pointerId); canvas.classList.toggle("held", fingers.size > 0); };
canvas.onpointermove = (e) => {
  const before = fingers.get(e.pointerId);
  if (!before) return;
  const dx = e.clientX - before[0], dy = e.clientY - before[1];
  if (fingers.size === 2) {
    const other = [...fingers].find(([id]) => id !== e.pointerId)[1];
    zoom(Math.hypot(before[0] - other[0], before[1] - other[1]) / Math.max(Math.hypot(e.clientX - other[0], e.clientY - other[1]), 1));
    pan(dx / 2, dy / 2);
  } else if (e.buttons & 6 || e.shiftKey) pan(dx, dy);
  else {
    camera.yaw -= 0.007 * dx;
    camera.pitch = Math.min(Math.max(camera.pitch + 0.007 * dy, -1.5), 1.5);
  }
  fingers.set(e.pointerId, [e.clientX, e.clientY]);
  stale = true;
};
canvas.addEventListener("wheel", (e) => { e.preventDefault(); zoom(Math.exp(0.0012 * Math.max(-300, Math.min(300, e.deltaY * (e.deltaMode ? 20 : 1))))); }, { passive: false });
canvas.addEventListener("webglcontextlost", () => { $("problem").textContent = "The picture was lost: load the page again."; $("problem").hidden = false; });

theme(dark); say();
let before = performance.now();
const tick = (now) => {
  const passed = Math.min((now - before) / 1000, 0.25);
  before = now;
  if (playing) {
    cursor += passed * +$("speed").value;
    if (cursor > duration) cursor %= duration;
    stale = true; say();
  }
  if (stale) { stale = false; draw(); }
  requestAnimationFrame(tick);
};
requestAnimationFrame(tick);
// What scripts and tests may use.
window.replay = {
  seek: (time) => { playing = false; seek(time - H.start); }, toggle, theme, colourBy,
  get time() { return H.start + cursor; }, get playing() { return playing; }, names: parts.map((p) => p.name),
  place: (name, index) => {  // where station, vertex or body `name` is, m
    const p = parts.find((q) => q.name === name), exact = cursor * H.fps, k = Math.min(Math.floor(exact + 1e-6), H.count - 1);
    const a = p.centres || p.vertices || p.position, out = new Float32Array(a.row), i = 3 * (index || 0);
    places(a, k, Math.max(exact - k, 0), out);
    return [out[i], out[i + 1], out[i + 2]];
  },
};
})();
