// Plots of watched values: those of one unit share one, over the last seconds of simulated time.
const COLOURS = ["#3f88b2", "#d68e3a", "#c4564a", "#689e5e", "#8e6eb0", "#489a94", "#c46e94", "#a08850"];
const SPAN = 10; // s
const NOISE = 1e-9; // of a unit that is chosen for what is watched, what is smaller is rounding and no curve
let history = []; // rows: time, watched values

frames.push(() => {
  const { samples } = page, width = page.header.watches.length + 1;
  for (let at = 0; at + width <= samples.length; at += width) {
    const row = samples.subarray(at, at + width);
    if (history.length && row[0] < history.at(-1)[0]) history = [];
    history.push(row);
  }
  while (history.length > 2 && history.at(-1)[0] - history[0][0] > SPAN) history.shift();
});

const ticks = (low, high, most) => {  // round numbers between two, at most so many
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((x) => rough <= x * power * (1 + 1e-9)), found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + 1e-9 * step; value += step) {
    found.push(Math.abs(value) < 1e-9 * step ? 0 : value);
  }
  return found.length < 2 && most < 16 ? ticks(low, high, 2 * most) : found; // one alone says nothing of the scale
};

const plot = (chart) => {
  const { canvas: sheet, rows, values } = chart, last = history.at(-1);
  rows.forEach((k, j) => { values[j].textContent = last ? ` ${quantity(Math.abs(last[1 + k]) < NOISE ? 0 : last[1 + k])}` : ""; });
  if (!sheet.clientWidth || history.length < 2) return;
  const ratio = Math.min(devicePixelRatio || 1, 2), width = sheet.clientWidth, height = sheet.clientHeight;
  sheet.width = width * ratio;
  sheet.height = height * ratio;
  const pen2 = sheet.getContext("2d"), ink = getComputedStyle(sheet).color;
  pen2.setTransform(ratio, 0, 0, ratio, 0, 0);
  const end = last[0], start = Math.max(end - SPAN, Math.min(history[0][0], end - 1e-3));
  let low = Infinity, high = -Infinity;
  for (const row of history) {
    for (const k of rows) {
      const value = row[1 + k];
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (Math.max(Math.abs(low), Math.abs(high)) < NOISE) low = high = 0;
  if (!(high - low > 1e-6 * Math.max(Math.abs(high), Math.abs(low)))) {
    const middle = Number.isFinite(low) ? low : 0, room_ = Math.abs(middle) * 0.1 || 1;
    low = middle - room_;
    high = middle + room_;
  }
  const marks = ticks(low, high, 4);
  pen2.font = `${LARGE() ? 17 : 11}px ${getComputedStyle(sheet).fontFamily}`;
  const left = 10 + Math.max(...marks.map((v) => pen2.measureText(quantity(v)).width)), bottom = 18, top = 8, right = 8;
  const x = (t) => left + ((width - left - right) * (t - start)) / (end - start || 1);
  const y = (v) => top + ((height - top - bottom) * (high - v)) / (high - low);
  pen2.fillStyle = ink;
  pen2.strokeStyle = "rgba(128, 128, 128, 0.25)";
  pen2.lineWidth = 1;
  pen2.textBaseline = "middle";
  pen2.textAlign = "right";
  for (const value of marks) {
    pen2.beginPath();
    pen2.moveTo(left, y(value));
    pen2.lineTo(width - right, y(value));
    pen2.stroke();
    pen2.fillText(quantity(value), left - 5, y(value));
  }
  pen2.textAlign = "center";
  pen2.textBaseline = "alphabetic";
  for (const value of ticks(start, end, 5)) {
    if (x(value) > left + 4 && x(value) < width - right - 12) pen2.fillText(quantity(value, 4), x(value), height - 4);
  }
  pen2.textAlign = "right";
  pen2.fillText("s", width - 2, height - 4);
  pen2.lineWidth = 1.8;
  pen2.lineJoin = "round";
  rows.forEach((k, j) => {
    pen2.strokeStyle = COLOURS[j % COLOURS.length];
    pen2.beginPath();
    let down = false;
    for (const row of history) {
      const value = row[1 + k];
      if (Number.isNaN(value)) down = false; // a gap
      else if (down) pen2.lineTo(x(row[0]), y(value));
      else {
        pen2.moveTo(x(row[0]), y(value));
        down = true;
      }
    }
    pen2.stroke();
  });
};

let charts = [];
const buildPlots = () => {
  const { watches } = page.header, shown = watches.map((w, k) => [w, k]).filter(([w]) => plotted[w.name] ?? w.shown);
  const units = [...new Set(shown.map(([w]) => w.unit))];
  charts = units.map((unit) => {
    const own = shown.filter(([w]) => w.unit === unit), values = own.map(() => el("b"));
    const caption = el("figcaption", {}, ...own.map(([w], j) => el("span", {},
      el("span", { textContent: "● ", style: `color: ${COLOURS[j % COLOURS.length]}`, aria: { hidden: "true" } }),
      w.name, values[j], unit ? ` ${unit}` : "")));
    const sheet = el("canvas", { role: "img", aria: { label: `${own.map(([w]) => w.name).join(", ")} over time` } });
    return { figure: el("figure", {}, caption, sheet), canvas: sheet, rows: own.map(([, k]) => k), values };
  });
  $("charts").replaceChildren(...charts.map((chart) => chart.figure));
};
const plotted = {}; // whether a watch is plotted, by name: what a person chose
