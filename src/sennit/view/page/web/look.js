// What is seen: camera, light and dark, colours of a field, and the loop that draws.
const look = { dark: matchMedia("(prefers-color-scheme: dark)").matches, ground: true, shadows: true, ties: true };

// -------------------------------------------------------------------------------------------------------------- camera
const WIDE = 820; // pixels: below, the panel is a drawer at the bottom
const WAY = [0.42, -1, 0.38]; // from where one looks at what is longer along x than along y
const camera = drawing ? drawing.camera : new Camera(canvas);
let room = null, opened = false;

const covered = () => {  // pixels that other things cover at each side
  const panel = $("panel"), shown = !panel.classList.contains("away") && panel.childElementCount > 0;
  const wide = innerWidth > WIDE, top = $("board").hidden ? 46 : $("board").getBoundingClientRect().bottom;
  const bottom = innerHeight - $("bar").getBoundingClientRect().top;
  return {
    left: 0, right: shown && wide ? panel.offsetWidth + 20 : 0, top: Math.min(top, 0.3 * innerHeight),
    bottom: shown && !wide ? Math.min(panel.offsetHeight, 0.6 * innerHeight) : bottom,
  };
};
const arrange = () => {  // the middle of the picture is the middle of what is left
  camera.insets = covered();
  document.body.classList.toggle("wide", innerWidth > WIDE && !$("panel").classList.contains("away"));
  redraw();
};
const home = (given = true) => {
  if (!drawing || !page.header) return;
  arrange();
  const asked = given ? page.header.camera : null, [low, high, corners, decor] = drawing.bounds();
  widen(low, high, !given);
  if (asked) camera.look(...asked, [...corners, ...decor]);
  else camera.fit(corners, high[0] - low[0] >= high[1] - low[1] ? WAY : [-WAY[1], -WAY[0], WAY[2]]);
};
const widen = (low, high, anew = false) => {  // room for light and shadows; returns whether it grew by much
  if (room && !anew) {
    const size = norm(minus(room.high, room.low));
    const out = Math.max(...[0, 1, 2].map((i) => Math.max(room.low[i] - low[i], high[i] - room.high[i])));
    if (out < 0.04 * size) return false;
    low = low.map((x, i) => Math.min(x, room.low[i]));
    high = high.map((x, i) => Math.max(x, room.high[i]));
  }
  room = { low, high };
  drawing.room(low, high, page.header.ground);
  return true;
};
let nextLook = 0;
const keepInSight = (now) => {  // while nobody has moved the camera and things fall into place
  if (now < nextLook || !opened || page.status.holding) return;
  nextLook = now + 250;
  const [low, high] = drawing.bounds();
  if (widen(low, high) && !camera.touched && !page.header.camera && page.status.time < 20) home();
};
addEventListener("resize", () => {
  if (camera.touched) arrange();
  else home();
});
$("fit").onclick = () => home(false);

// ------------------------------------------------------------------------------------------------------ light and dark
const theme = (dark) => {
  look.dark = dark;
  document.documentElement.classList.toggle("dark", dark);
  $("dark").setAttribute("aria-pressed", dark);
  redraw();
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => theme(event.matches));
$("dark").onclick = () => theme(!look.dark);
theme(look.dark);

// ------------------------------------------------------------------------------------------------- colours of a field
// A range follows a field's without flickering: it grows at once, and shrinks only when it is far too large for a while
// (seconds). Its ends are round numbers.
class FollowedRange {
  constructor() {
    this.ends = [0, 0];
    this.fitsSince = -Infinity;
  }

  follow(low, high, now) {
    const wanted = [roundedUp(low), roundedUp(high)], shown = this.ends;
    const lostSign = shown[0] < 0 && wanted[0] >= 0;
    if (!(lostSign || wanted[1] - wanted[0] < 0.4 * (shown[1] - shown[0]))) this.fitsSince = now;
    if (wanted[0] < shown[0] || wanted[1] > shown[1]) {
      this.ends = [Math.min(wanted[0], shown[0]), Math.max(wanted[1], shown[1])];
      const largest = Math.max(-this.ends[0], this.ends[1]);
      if (this.ends[0] < 0) this.ends = [-largest, largest]; // zero stays in the middle
      this.fitsSince = now;
    } else if (now - this.fitsSince > 2) {
      this.ends = wanted;
      this.fitsSince = now;
    }
    return this.ends;
  }
}
const roundedUp = (value) => {  // the next number away from zero that is 1, 1.5, 2, 3, 5 or 7 times a power of ten
  if (value === 0 || !Number.isFinite(value)) return 0;
  const size = Math.abs(value), power = 10 ** Math.floor(Math.log10(size));
  const digits = [1, 1.5, 2, 3, 5, 7].find((d) => size <= d * power * (1 + 1e-9)) || 10;
  return Math.sign(value) * digits * power;
};

let field = "", followed = new FollowedRange(), painted = "";
const colourBy = (name) => {
  field = page.header && page.header.fields[name] !== undefined ? name : "";
  followed = new FollowedRange();
  painted = "";
  $("legend").hidden = !field;
  if (!field && drawing) drawing.paint(null);
  page.fresh = page.fresh || page.header !== null;
  redraw();
};
const paint = (now) => {
  if (!field) return;
  let [low, high] = drawing.rangeOf(field);
  const largest = Math.max(high, -low) || 1;
  // rounding and a rod's own little pushes are no reason to show a rope's tension with a sign
  low = page.header.signed.includes(field) && -low > 0.02 * largest ? -largest : 0;
  const ends = followed.follow(low, largest, now / 1000), ramp = page.header.ramps[ends[0] < 0 ? "signed" : "amount"];
  drawing.paint(field, ends[0], ends[1], ramp);
  if (painted === `${field} ${ends}`) return;
  painted = `${field} ${ends}`;
  const [title, unit] = $("legend").firstElementChild.children, marks = $("legend").lastElementChild.children;
  title.textContent = field;
  unit.textContent = page.header.fields[field];
  [ends[0], (ends[0] + ends[1]) / 2, ends[1]].forEach((value, k) => { marks[k].textContent = quantity(value); });
  const bar = $("legend").querySelector("canvas").getContext("2d"), pixels = bar.createImageData(256, 1);
  for (let i = 0; i < 256; i++) pixels.data.set([ramp[3 * i], ramp[3 * i + 1], ramp[3 * i + 2], 255], 4 * i);
  bar.putImageData(pixels, 0, 0);
};

// ------------------------------------------------------------------------------------------------------------- drawing
// A picture is begun only when the one before is finished, which a fence says: so none waits in the graphics driver, and
// what is seen is as new as it can be. In software the number of pixels follows the time that a picture takes.
const pictures = []; // the last ones: {at: when it was finished, ms; age: of what it shows, s; time: simulated, s; took: ms}
const COARSEST = 0.4; // share of the pixels in each direction
const FIRST = 3e5; // pixels of the first pictures
if (drawing && software && !fine) {
  const all = innerWidth * innerHeight * Math.min(devicePixelRatio || 1, 2) ** 2;
  drawing.sharpness = Math.min(1, Math.sqrt(FIRST / all));
}
const WANTED = [45, 80]; // ms that a picture may take, without a graphics processor
const JUDGED = 9; // pictures whose median counts: a busy machine delays some of them
const STILL = 600; // ms after which a picture that stays is drawn with all its pixels
const HASTY = 300, TOLD = 1000; // ms from which on moving pictures have no shadows; from which on one is told
let fence = null, begun = null, judged = [], rests = false, hasty = false, told = false;

const finished = (now) => {
  const gl = drawing.gl;
  if (fence) {
    const done = gl.isContextLost() || gl.getSyncParameter(fence, gl.SYNC_STATUS) === gl.SIGNALED;
    if (!done && now - begun.at < 4000) return false;
    gl.deleteSync(fence);
    fence = null;
    const took = now - begun.at;
    if (begun.fresh) {
      pictures.push({ at: now, age: Date.now() / 1000 - begun.stamp, time: begun.time, took });
      if (pictures.length > 600) pictures.shift();
    }
    adapt(took);
    if (begun.waits) ask.next();
  }
  return true;
};
const adapt = (took) => {
  if (rests) return;
  judged.push(took);
  const hopeless = judged.length >= 2 && Math.min(...judged) > 2 * WANTED[1];
  if (judged.length < JUDGED && !hopeless) return;
  const usual = judged.sort((a, b) => a - b)[(judged.length - 1) >> 1], before = drawing.sharpness;
  const aim = before * Math.sqrt((WANTED[0] + WANTED[1]) / 2 / usual);
  judged = [];
  if (usual > TOLD && !told) {
    told = true;
    const why = software ? "Without a graphics processor this" : "This";
    note("info", `${why} browser takes ${quantity(usual / 1000, 2)} s for a picture of all that is here: what moves is `
      + "seen by jumps. The simulation goes on meanwhile.", 12);
  }
  if (!software || fine) return;
  if (hasty ? usual < WANTED[0] && before === 1 : usual > HASTY && before === COARSEST) hasty = !hasty;
  if (usual > WANTED[1] || usual < WANTED[0]) {
    drawing.sharpness = Math.min(Math.max(aim, 0.55 * before, COARSEST), 1, 1.3 * before);
  }
  if (Math.abs(drawing.sharpness - before) > 0.01) redraw();
};
const rest = (now) => {  // a picture that stays is worth all its pixels
  const stays = software && !fine && !rests && page.status.paused > 0.5 && fingers.size === 0;
  if (!stays || !begun || now - begun.at < STILL) return;
  rests = true;
  drawn(now);
};
const drawn = (now) => {
  const gl = drawing.gl, fresh = page.fresh;
  page.stale = page.fresh = false;
  if (fresh) {
    const blocks = page.blocks;
    for (const part of drawing.parts) drawing.place(part.number, blocks.subarray(part.at, part.at + part.size));
    paint(now);
    if (!opened) {
      opened = true;
      home();
    }
    keepInSight(now);
  }
  begun = { at: now, fresh, stamp: page.stamp, time: page.status.time, waits: page.waits };
  page.waits = false;
  drawing.draw(rests ? { ...look, fine: true } : hasty ? { ...look, shadows: false } : look);
  drawOver();
  fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
  gl.flush();
};
let ticked = 0;
const tick = () => {
  requestAnimationFrame(tick);
  const now = performance.now();
  if (opened && !software && camera.sway((now - ticked) / 1000)) redraw();
  ticked = now;
  if (drawing) {
    if (!finished(now)) return;
    if (page.header && (page.fresh || page.stale)) {
      rests = false;
      drawn(now);
    } else if (page.header) rest(now);
  } else if (page.fresh) {
    page.fresh = false;
    if (page.waits) ask.next();
    page.waits = false;
  }
  inform(now);
};
requestAnimationFrame(tick);
