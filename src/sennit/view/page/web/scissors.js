// Scissors: a click cuts the rod that it meets, a stroke all rods that it crosses in sight, once it ends. Until then it is
// marked where they will be cut: material places, so that a rod that moves is cut where it was crossed.
const CUT_COLOUR = "#d0463e";
const MOST_CUTS = 64; // as in live/commands.py
const scissors = { trace: [], cuts: [] };

const cuttable = () => page.header?.cuttable || [];
const depthAt = (ray, position) => dot(minus(position, ray.origin), ray.direction);
const hides = (ray, depth) => drawing.parts.some((part) => {  // whether something solid is before what is at a depth
  if (!part.shown || !part.block || part.kind === "tube" || part.role === "tie" || part.opacity < 1) return false;
  const hit = (part.kind === "solid" ? inSolid : onSurface)(part, ray);
  return hit !== null && hit.depth < depth;
});

// Where the line from `a` to `b` crosses the one from `c` to `d`, in pixels: the share of the second; null: nowhere.
const crossing = (a, b, c, d) => {
  const x = b[0] - a[0], y = b[1] - a[1], u = d[0] - c[0], v = d[1] - c[1], size = x * v - y * u;
  if (size === 0) return null;
  const p = c[0] - a[0], q = c[1] - a[1], along = (p * v - q * u) / size, share = (p * y - q * x) / size;
  return along >= 0 && along < 1 && share >= 0 && share < 1 ? share : null;
};
const crossed = (from, to) => {  // material places of rods that a piece of a stroke crosses
  const found = [];
  for (const number of cuttable()) {
    const part = drawing.parts[number];
    if (!part.shown || !part.block || part.kind !== "tube") continue;
    let last = null;
    for (let i = 0; i < part.count; i++) {
      const pixel = camera.pixelOf(positionOf(number, i / (part.count - 1))), share = last && pixel && crossing(from, to, last, pixel);
      if (typeof share === "number") {
        const place = (i - 1 + share) / (part.count - 1), position = positionOf(number, place);
        const ray = camera.ray(last[0] + share * (pixel[0] - last[0]), last[1] + share * (pixel[1] - last[1]));
        if (!hides(ray, depthAt(ray, position) - Math.max(...part.half))) found.push({ part: number, place });
      }
      last = pixel;
    }
  }
  return found;
};
const cut = (cuts) => {
  if (cuts.length) ask("cut", { cuts });
};

tools.scissors = {
  title: "Scissors",
  asks: "Click a rope, or draw a stroke across it.",
  denied: () => (cuttable().length ? "" : "There is nothing here that scissors cut: no rope, thread or other rod."),
  click(x, y, pixels) {
    const hit = nearest(camera.ray(x, y), ["body"], pixels);
    if (hit) cut([{ part: hit.part, place: hit.place }]); // what is no rod is refused in a sentence
  },
  stroke(from, to) {
    if (!scissors.trace.length) scissors.trace.push(from);
    scissors.trace.push(to);
    scissors.cuts.push(...crossed(from, to).slice(0, MOST_CUTS - scissors.cuts.length));
    redraw();
  },
  lift() {
    cut(scissors.cuts);
    this.leave();
  },
  leave() {
    Object.assign(scissors, { trace: [], cuts: [] });
    redraw();
  },
};

recasts.push((header, before) => {
  $("scissors").hidden = !cuttable().length;
  if (!cuttable().length && tool.name === "scissors") choose("");
  scissors.cuts = scissors.cuts.map((place) => relocated(before, place)).filter(Boolean);
});
overlays.push(() => {
  if (scissors.trace.length) pen.trace(scissors.trace, CUT_COLOUR, 2, [7, 6]);
  for (const { part, place } of scissors.cuts) pen.dot(positionOf(part, place), CUT_COLOUR);
});
$("scissors").dataset.tool = "scissors";
$("scissors").onclick = () => choose("scissors");
