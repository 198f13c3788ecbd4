// What all scripts of the page share: the document's parts, what is known of the simulation, commands and notes.
// Texts from the simulation are put into the page as text only, never as markup.
const $ = (id) => document.getElementById(id);
const el = (tag, properties = {}, ...children) => {
  const { aria = {}, ...plain } = properties, made = Object.assign(document.createElement(tag), plain);
  for (const [name, value] of Object.entries(aria)) made.setAttribute(`aria-${name}`, value);
  made.append(...children);
  return made;
};

const canvas = $("view");
const page = {
  header: null, // what the simulation says of the present cast
  status: {}, // of the newest frame, by name
  watches: [], controls: [], ties: [], handles: [], arrows: [], // its other numbers
  said: { failed: "", spell: null, shows: [], texts: [], undo: false, tape: "" },
  fresh: false, // whether there is a frame that is not drawn
  stale: true, // whether the picture is to be drawn anew
  over: false, // whether the simulation has ended
  windows: 1,
};
const recasts = []; // functions of (header, parts before) that are called when other things are there
const frames = []; // functions that are called with each frame that comes
const redraw = () => { page.stale = true; };

// Without a graphics processor pictures get fewer pixels; `?fine` after the address asks for all of them.
const software = Drawing.inSoftware();
const fine = /[?&]fine\b/.test(location.search);
let drawing = null;
const say = (problem) => {
  $("problem").textContent = problem;
  $("problem").hidden = !problem;
};
try {
  drawing = new Drawing(canvas, { software: software && !fine });
} catch (problem) {
  say(`${problem.message} The scene runs on, and the panel works; another browser will show the picture.`);
}
canvas.addEventListener("webglcontextlost", () => {
  say("The picture was lost, perhaps because the graphics driver was started anew: load the page again.");
});

const note = (level, text, seconds = level === "error" ? 14 : 6) => {
  const shown = el("p", { className: level, textContent: text, title: "Click to close" });
  shown.onclick = () => shown.remove();
  $("notes").append(shown);
  while ($("notes").childElementCount > 4) $("notes").firstElementChild.remove();
  setTimeout(() => shown.remove(), 1000 * seconds);
};

// Numbers as people read them: at most `digits` that count.
const quantity = (value, digits = 3) => {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-3 ? value.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e")
    : String(+value.toPrecision(digits));
  return text.replace("-", "−");
};
const lengthText = (metres) => {
  const size = Math.abs(metres);
  if (size >= 1 || size === 0) return `${quantity(metres)} m`;
  return size >= 1e-2 ? `${quantity(100 * metres)} cm` : `${quantity(1e3 * metres)} mm`;
};
