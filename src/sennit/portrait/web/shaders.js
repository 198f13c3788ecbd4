// What the graphics processor computes; see drawing.js.

// ------------------------------------------------------------------------------------------------------------- shaders
// Of each part six texels: position and whether it is shown; quaternion (x, y, z, w); colour and opacity; least half
// width (m), look, roughness, kind (0 solid, 1 tube, 2 surface); colour of its stripe and the stripe's mode; metal.
const PART_TEXELS = 6;
// Of each station three texels: centre and arc length in half widths; director (of a surface: normal) and level of the
// field (below 0: none); tangent and width over the largest.
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
invariant gl_Position;
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
invariant gl_Position;
layout(location=0) in vec4 corner; layout(location=1) in vec2 across; layout(location=2) in vec3 whose;
void main() {
  int at = ${PART_TEXELS} * int(whose.x + 0.5), station = ${STATION_TEXELS} * int(whose.y + 0.5);
  vec4 place = texel(partData, at), own = texel(partData, at + 2);
  vec4 centre = texel(stationData, station), director = texel(stationData, station + 1);
  vec4 along = texel(stationData, station + 2);
  vec3 tangent = along.xyz;
  vLook = texel(partData, at + 3); vStripe = texel(partData, at + 4);
  vColour = own; vLevel = director.w; vAlong = tangent;
  if (vLook.w > 1.5) {
    vPlace = centre.xyz; vNormal = director.xyz; vAcross = vec3(0.0, 0.0, 1e9); vAlong = vec3(0.0);
  } else {
    vec3 d2 = cross(tangent, director.xyz), side = corner.z * director.xyz + corner.w * d2;
    vPlace = centre.xyz + along.w * (corner.x * director.xyz + corner.y * d2);
    // never thinner than 1.7 pixels
    vPlace += side * max(0.0, 0.85 * pixel * (view * vec4(vPlace, 1.0)).w - along.w * vLook.x);
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
  vec3 low = mix(vec3(0.94, 1.10, 1.30), vec3(0.016, 0.021, 0.029), dark);
  vec3 high = mix(vec3(0.07, 0.32, 0.92), vec3(0.003, 0.005, 0.009), dark);
  return mix(high, low, exp(-3.6 * max(d.z, 0.0)));
}
vec3 around(vec3 d, float rough) {  // what a surface sees in a direction: the sky, and the ground below it
  vec3 floorLight = mix(vec3(0.36, 0.34, 0.31), vec3(0.10, 0.105, 0.115), dark);
  float edge = 0.05 + 0.6 * rough;
  vec3 above = skyOf(vec3(d.xy, mix(d.z, 0.35, rough))) * mix(1.0, 5.0, dark);
  // two lamps of a studio, which give round things their shape
  float lamp = smoothstep(0.55 - 0.5 * rough, 0.95, dot(d, vec3(0.72, -0.42, 0.55)));
  above += mix(0.55, 0.60, dark) * lamp * (1.0 - 0.75 * rough);
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
  c = max(mix(vec3(dot(c, vec3(0.2126, 0.7152, 0.0722))), c, 1.16), 0.0) * mix(0.66, 1.25, dark);
  c = c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14);
  vec3 a = sqrt(clamp(c, 0.0, 1.0)), b = sqrt(a);  // sRGB, to 1/250
  return 0.662002687 * a + 0.684122060 * b - 0.323583601 * sqrt(b) - 0.0225411470 * a * a;
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
float fifth(float x) { float y = x * x; return y * y * x; }
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
  c *= shade * (c * (c * 0.305306011 + 0.682171111) + 0.012522878);  // from sRGB
  float toEye = max(dot(n, e), 1e-3), toSun = dot(n, light);
  float sun = toSun > 0.0 ? lit(vPlace) * toSun : 0.0;
  float height = (vPlace.z - groundHeight) / under.w;
  open *= 1.0 - (0.5 - 0.5 * n.z) * 0.55 * exp(-4.0 * max(height, 0.0));  // near the ground its sky is hidden below
  vec3 base = mix(vec3(0.04), c, metal);
  vec3 h = normalize(light + e);
  float a = max(rough * rough, 0.0144), a2 = a * a, nh = max(dot(n, h), 0.0), d = nh * nh * (a2 - 1.0) + 1.0;
  float k = 0.5 * rough * rough + 0.08, geometry = 0.25 / ((max(toSun, 0.0) * (1.0 - k) + k) * (toEye * (1.0 - k) + k));
  vec3 glint = (base + (1.0 - base) * fifth(1.0 - max(dot(h, e), 0.0))) * min(a2 / (3.1416 * d * d), 60.0) * geometry;
  vec3 mirror = base + (max(vec3(1.0 - rough), base) - base) * fifth(1.0 - toEye);
  vec3 sunlight = mix(vec3(2.95, 2.75, 2.40), vec3(1.15, 1.15, 1.2), dark);
  vec3 ambient = around(n, 1.0) * mix(0.62, 0.72, dark);
  vec3 seen = (1.0 - metal) * c * (ambient * open + 0.42 * sunlight * sun * mix(0.6, 1.0, open));
  seen += open * mirror * around(reflect(-e, n), rough) * mix(1.0, 0.75, rough) + glint * sunlight * sun * open;
  result = vec4(shown(seen), 1.0) * vColour.a;
}`;
const DEPTH_FRAGMENT = `#version 300 es
precision highp float; in vec4 vColour; void main() { if (vColour.a < 0.5) discard; }`;
const FRONT_FRAGMENT = `#version 300 es
precision highp float; void main() {}`;
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
  vec3 floorColour = mix(vec3(0.375, 0.375, 0.37), vec3(0.040, 0.044, 0.052), dark);
  vec3 lineColour = mix(vec3(0.20, 0.22, 0.24), vec3(0.078, 0.085, 0.10), dark);
  vec3 c = mix(floorColour, lineColour, 0.22 * lines(grid) + 0.34 * lines(10.0 * grid));
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
