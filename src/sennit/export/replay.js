// Plays the recording that is in the page: decodes its frames and has them drawn by `Drawing`, which stands above.
(async () => {
const $ = (id) => document.getElementById(id);
const stop = (text) => {
  $("problem").textContent = text;
  $("problem").hidden = false;
  throw new Error(text);
};
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
const tracks = H.parts.map((part) => {
  const track = { fields: [] };
  for (const key of ["shown", "position", "quaternion", "centres", "directors", "vertices"]) {
    if (part[key]) track[key] = moving(part[key]);
  }
  for (const [name, where] of Object.entries(part.fields || {})) track.fields.push([name, moving(where)]);
  return track;
});
let drawing;
try {
  drawing = new Drawing($("view"), { software: Drawing.inSoftware() });
} catch (error) {
  stop(error.message);
}
drawing.cast(H.parts.map((part) => ({ ...part, fields: Object.keys(part.fields || {}) })), raw);
const blocks = drawing.parts.map((part) => {
  const n = part.count, size = part.kind === "solid" ? 8 : 1 + ((part.kind === "tube" ? 6 : 3) + part.fields.length) * n;
  return new Float32Array(size);
});

// Frame k + f (0 <= f < 1): between two frames in proportion, into `out` from `at` on.
const between = (a, k, f, out, at) => {
  const n = a.row, i = k * n, j = Math.min(k + 1, H.count - 1) * n;
  if (a.step !== undefined) {
    for (let m = 0; m < n; m++) out[at + m] = a.low[m % 3] + a.step * (a.v[i + m] + f * (a.v[j + m] - a.v[i + m]));
  } else for (let m = 0; m < n; m++) out[at + m] = a.v[i + m] + f * (a.v[j + m] - a.v[i + m]);
};
const turned = (a, k, f, out, at) => {
  const i = 4 * k, j = 4 * Math.min(k + 1, H.count - 1), q = [0, 0, 0, 0];
  let same = 0;
  for (let x = 0; x < 4; x++) same += a.v[i + x] * a.v[j + x];
  for (let x = 0; x < 4; x++) q[x] = a.v[i + x] * (1 - f) + Math.sign(same || 1) * a.v[j + x] * f;
  const size = Math.hypot(...q) || 1;
  for (let x = 0; x < 4; x++) out[at + x] = q[x] / size;
};
const placeAll = (k, f) => {
  const nearest = f > 0.5 ? Math.min(k + 1, H.count - 1) : k;
  for (const [number, track] of tracks.entries()) {
    const out = blocks[number], count = drawing.parts[number].count;
    out[0] = track.shown.v[k];
    if (out[0]) {
      if (track.position) {
        between(track.position, k, f, out, 1);
        turned(track.quaternion, k, f, out, 4);
      } else {
        between(track.centres || track.vertices, k, f, out, 1);
        if (track.directors) between(track.directors, k, f, out, 1 + 3 * count);
        const first = 1 + (track.directors ? 6 : 3) * count;
        for (const [at, [name, a]] of track.fields.entries()) {
          const { low, high } = H.fields[name];
          for (let i = 0; i < count; i++) {
            out[first + at * count + i] = low + ((high - low) * a.v[nearest * a.row + i]) / 255;
          }
        }
      }
    }
    drawing.place(number, out);
  }
};

// ---------------------------------------------------------------------------------------------------------- camera
const camera = drawing.camera, minus = (a, b) => a.map((x, i) => x - b[i]);
drawing.room(H.low, H.high, H.ground);
const length = (metres) => (metres >= 1 ? `${metres} m` : metres >= 0.01 ? `${+(100 * metres).toPrecision(3)} cm` : `${+(1e3 * metres).toPrecision(3)} mm`);
$("scale").textContent = `squares of ${length(drawing.grid)}`;
const home = () => {
  camera.insets = { left: 0, right: 0, top: 34, bottom: $("controls").offsetHeight + 14 };
  if (H.fitted) camera.fit(H.boxes, minus(H.eye, H.target));
  else camera.look(H.eye, H.target, H.boxes);
};
// Where things go far, the camera goes along.
const drift = H.drift && read(H.drift);
const drifted = (k, f) => [0, 1, 2].map((i) => {
  if (!drift) return 0;
  const next = 3 * Math.min(k + 1, H.count - 1) + i;
  return drift[3 * k + i] + f * (drift[next] - drift[3 * k + i]);
});

// --------------------------------------------------------------------------------------------------------- drawing
let dark = matchMedia("(prefers-color-scheme: dark)").matches, field = "", cursor = 0, playing = H.count > 1, stale = true;
let slow = 0;
const duration = (H.count - 1) / H.fps, fingers = new Map();
const draw = () => {
  const exact = Math.min(cursor * H.fps, H.count - 1), k = Math.floor(exact + 1e-6), f = Math.max(exact - k, 0);
  const began = performance.now();
  placeAll(k, f);
  camera.along = drifted(k, f);
  const still = !playing && !fingers.size;
  drawing.draw({ dark, fine: still });
  if (still || !drawing.software) return;
  drawing.finish(); // else it is not known how long drawing takes
  slow = performance.now() - began > 70 ? slow + 1 : 0;
  if (slow > 2 && drawing.sharpness > 0.45) {
    drawing.sharpness = Math.max(0.45, 0.75 * drawing.sharpness);
    slow = 0;
  }
};

// -------------------------------------------------------------------------------------------------------- controls
const digits = duration < 10 ? 2 : 1;
const say = () => {
  $("time").textContent = `${(H.start + cursor).toFixed(digits)} / ${(H.start + duration).toFixed(digits)} s`;
  $("scrub").value = cursor;
  $("play").classList.toggle("playing", playing);
};
const seek = (time) => {
  cursor = Math.min(Math.max(time, 0), duration);
  stale = true;
  say();
};
const toggle = (on) => {
  playing = (on === undefined ? !playing : on) && H.count > 1;
  if (playing && cursor >= duration) cursor = 0;
  stale = true;
  say();
};
const theme = (on) => {
  dark = on;
  document.documentElement.classList.toggle("dark", dark);
  stale = true;
};
const number = (x) => (Math.abs(x) >= 1e4 || (x && Math.abs(x) < 1e-2) ? x.toExponential(1) : String(+x.toPrecision(3)));
const colourBy = (name) => {
  field = name;
  stale = true;
  $("colour").value = name;
  $("legend").hidden = !name;
  if (!name) {
    drawing.paint(null);
    return;
  }
  const a = H.fields[name], pixels = new ImageData(256, 1), ramp = H.ramps[a.ramp];
  drawing.paint(name, a.low, a.high, ramp);
  for (let i = 0; i < 256; i++) pixels.data.set([ramp[3 * i], ramp[3 * i + 1], ramp[3 * i + 2], 255], 4 * i);
  $("ramp").getContext("2d").putImageData(pixels, 0, 0);
  $("legend-name").textContent = `${name} (${a.unit})`;
  $("legend-low").textContent = number(a.low);
  $("legend-high").textContent = number(a.high);
};
$("scrub").max = duration;
$("scrub").oninput = (e) => {
  playing = false;
  seek(+e.target.value);
};
$("scrub").onpointerdown = () => toggle(false); // where it is already there is no input
$("play").onclick = () => toggle();
$("theme").onclick = () => theme(!dark);
const homeAgain = () => {
  home();
  stale = true;
};
$("home").onclick = homeAgain;
for (const [value, text] of [["", "colours"], ...Object.keys(H.fields).map((name) => [name, name])]) {
  $("colour").add(new Option(text, value));
}
$("colour").onchange = (e) => colourBy(e.target.value);
$("colour-label").hidden = !Object.keys(H.fields).length;
addEventListener("resize", () => {
  if (!camera.touched) home();
  stale = true;
});
addEventListener("keydown", (e) => {
  if (e.target.tagName === "SELECT") return;
  const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
  if (e.key === " ") {
    e.preventDefault();
    if (e.target.tagName === "BUTTON") e.target.blur();
    toggle();
  } else if (step) {
    e.preventDefault();
    playing = false;
    seek((Math.round(cursor * H.fps) + step) / H.fps);
  } else if (e.key === "Home") seek(0);
  else if (e.key === "End") seek(duration);
});
const canvas = $("view");
canvas.oncontextmenu = (e) => e.preventDefault();
canvas.ondblclick = homeAgain;
canvas.onpointerdown = (e) => {
  canvas.setPointerCapture(e.pointerId);
  fingers.set(e.pointerId, [e.clientX, e.clientY]);
  canvas.classList.add("held");
};
canvas.onpointerup = canvas.onpointercancel = (e) => {
  fingers.delete(e.pointerId);
  canvas.classList.toggle("held", fingers.size > 0);
  stale = true;
};
canvas.onpointermove = (e) => {
  const before = fingers.get(e.pointerId);
  if (!before) return;
  const dx = e.clientX - before[0], dy = e.clientY - before[1];
  if (fingers.size === 2) {
    const other = [...fingers].find(([id]) => id !== e.pointerId)[1], apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
    camera.zoom(apart(before) / Math.max(apart([e.clientX, e.clientY]), 1));
    camera.pan(dx / 2, dy / 2);
  } else if (e.buttons & 6 || e.shiftKey) camera.pan(dx, dy);
  else camera.orbit(dx, dy);
  fingers.set(e.pointerId, [e.clientX, e.clientY]);
  stale = true;
};
canvas.addEventListener("wheel", (e) => {
  e.preventDefault();
  camera.zoom(Math.exp(0.0012 * Math.max(-300, Math.min(300, e.deltaY * (e.deltaMode ? 20 : 1)))));
  stale = true;
}, { passive: false });
canvas.addEventListener("webglcontextlost", () => {
  $("problem").textContent = "The picture was lost: load the page again.";
  $("problem").hidden = false;
});

theme(dark);
home();
say();
let before = performance.now();
const tick = (now) => {
  const passed = Math.min((now - before) / 1000, 0.25);
  before = now;
  if (playing) {
    cursor += passed * +$("speed").value;
    if (cursor > duration) cursor %= duration;
    stale = true;
    say();
  }
  if (!drawing.software && camera.sway(passed)) stale = true;
  if (stale) {
    stale = false;
    draw();
  }
  requestAnimationFrame(tick);
};
requestAnimationFrame(tick);
// What scripts and tests may use.
window.replay = {
  seek: (time) => {
    playing = false;
    seek(time - H.start);
  },
  toggle, theme, colourBy, drawing,
  get time() { return H.start + cursor; },
  get playing() { return playing; },
  names: H.parts.map((part) => part.name),
  place: (name, index) => {  // where station, vertex or body `name` is, m
    const exact = cursor * H.fps, k = Math.min(Math.floor(exact + 1e-6), H.count - 1);
    const track = tracks[H.parts.findIndex((part) => part.name === name)];
    const a = track.centres || track.vertices || track.position, out = new Float32Array(a.row), i = 3 * (index || 0);
    between(a, k, Math.max(exact - k, 0), out, 0);
    return [out[i], out[i + 1], out[i + 2]];
  },
};
})();
