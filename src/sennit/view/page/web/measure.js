// Rulers and angles between clicked places, the path of a place, arrows of forces: they look, and change nothing.
const measure = { places: [], rulers: [], paths: [] };
const LONGEST_PATH = 3000; // points
const ARROW = { constraints: "#c8458c", contacts: "#d0463e" };
const arrows = { constraints: false, contacts: false, scale: 0 };

const clearMeasures = () => {
  Object.assign(measure, { places: [], rulers: [], paths: [] });
  choose("");
};

const measured = (x, y, pixels) => {  // the place that is clicked, if there is one
  const hit = nearest(camera.ray(x, y), ["body", "tie", "decor", "obstacle"], pixels);
  return hit && { part: hit.part, place: hit.place };
};
const rule = (count) => (x, y, pixels) => {
  const place = measured(x, y, pixels);
  if (!place) return;
  measure.places.push(place);
  if (measure.places.length === count) {
    measure.rulers.push(measure.places);
    choose("");
  }
  redraw();
};
const forgetPlaces = () => { measure.places = []; };
tools.ruler = { title: "Ruler", asks: "Click two places.", click: rule(2), leave: forgetPlaces };
tools.angle = {
  title: "Angle", asks: "Click three places: the angle is at the second.", click: rule(3), leave: forgetPlaces,
};
tools.path = {
  title: "Path",
  asks: "Click the place whose path is to be seen.",
  click: (x, y, pixels) => {
    const place = measured(x, y, pixels);
    if (!place) return;
    measure.paths.push({ place, points: [], colour: COLOURS[measure.paths.length % COLOURS.length] });
    choose("");
  },
};
const whereIs = ({ part, place }) => positionOf(part, place);

frames.push(() => {
  if (!measure.paths.length || !drawing || page.status.time === measure.time) return;
  const back = page.status.time < measure.time;
  measure.time = page.status.time;
  for (const path of measure.paths) {
    if (back) path.points = [];
    const at = path.place.part < drawing.parts.length ? placedIn(path.place) : null;
    if (at) path.points.push(at);
    if (path.points.length > LONGEST_PATH) path.points.splice(0, LONGEST_PATH / 3);
  }
});
const placedIn = (place) => {  // in the frame that has just come, which may not be drawn
  const part = drawing.parts[place.part], kept = part.block;
  part.block = page.blocks.subarray(part.at, part.at + part.size);
  const at = positionOf(place.part, place.place);
  part.block = kept;
  return at;
};

recasts.push((header, before) => {
  if (!before.length) return;
  const moved = (place) => relocated(before, place);
  measure.places = measure.places.map(moved).filter(Boolean);
  measure.rulers = measure.rulers.map((places) => places.map(moved)).filter((places) => places.every(Boolean));
  for (const path of measure.paths) path.place = moved(path.place) || { part: Infinity };
});

const rulerText = (points) => {
  if (points.length === 2) return lengthText(norm(minus(points[1], points[0])));
  const a = unit(minus(points[0], points[1])), b = unit(minus(points[2], points[1]));
  return `${((180 / Math.PI) * Math.atan2(norm(cross(a, b)), dot(a, b))).toFixed(1)}°`;
};
overlays.push(() => {
  for (const path of measure.paths) {
    if (path.points.length > 1) pen.line(path.points, path.colour, 2);
  }
  for (const place of measure.places) {
    const at = whereIs(place);
    if (at) pen.dot(at, "#3f78a0");
  }
  for (const places of measure.rulers) {
    const points = places.map(whereIs);
    if (points.some((point) => !point)) continue;
    pen.line(points, "#3f78a0", 2);
    for (const point of points) pen.dot(point, "#3f78a0", 3.5);
    const middle = points.length === 3 ? points[1] : plus(points[0], minus(points[1], points[0]), 0.5);
    pen.words(middle, rulerText(points));
  }
});

// -------------------------------------------------------------------------------------------------------- forces
const sendArrows = () => {
  if (page.header) ask("arrows", { constraints: arrows.constraints, contacts: arrows.contacts });
};
frames.push(() => {  // the longest is a sixth of the scene long; it shrinks slowly, so that lengths can be compared
  const rows = page.arrows;
  let largest = 0;
  for (let k = 0; k + 5 < rows.length; k += 6) {
    largest = Math.max(largest, Math.hypot(rows[k + 3], rows[k + 4], rows[k + 5]));
  }
  arrows.scale = Math.max(largest, 0.995 * arrows.scale);
});
overlays.push(() => {
  if (!(arrows.constraints || arrows.contacts) || !room || !(arrows.scale > 0)) return;
  const long = norm(minus(room.high, room.low)) / 6 / arrows.scale, rows = page.arrows.length / 6;
  const contacts = arrows.contacts ? Math.min(64, rows) : 0; // they come last
  let largest = null;
  for (let k = 0; k < rows; k++) {
    const place = [...page.arrows.subarray(6 * k, 6 * k + 3)], force = [...page.arrows.subarray(6 * k + 3, 6 * k + 6)];
    const size = norm(force);
    if (size < 0.01 * arrows.scale) continue;
    const contact = arrows.constraints ? k >= rows - contacts : true;
    pen.arrow(place, plus(place, force, long), contact ? ARROW.contacts : ARROW.constraints);
    if (!largest || size > largest.size) largest = { size, end: plus(place, force, long) };
  }
  if (largest) pen.words(largest.end, `${quantity(largest.size)} N`);
});
