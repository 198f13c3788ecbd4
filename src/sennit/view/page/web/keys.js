// Keys. Those of the scene's own buttons and switches come from `scene.control(..., key=)`.
const KEYS = {
  " ": ["run or pause", act.play], ".": ["one step", act.step], r: ["reset", act.reset], z: ["undo", act.undo],
  f: ["everything into sight", () => home(false)], p: ["panel", act.open], d: ["dark or light", () => theme(!look.dark)],
  m: ["ruler", () => choose("ruler")], a: ["angle", () => choose("angle")], t: ["path of a place", () => choose("path")],
  x: ["scissors", () => choose("scissors")],
  "?": ["this help", act.ask], h: ["", act.ask], Escape: ["", () => choose(tool.name)],
};
const TURN = 8; // pixels of a drag that a key stands for
const ARROWS = { ArrowLeft: [-TURN, 0], ArrowRight: [TURN, 0], ArrowUp: [0, -TURN], ArrowDown: [0, TURN] };

const fillKeys = (controls) => {
  const rows = Object.entries(KEYS).filter(([, [what]]) => what).map(([key, [what]]) => [key === " " ? "space" : key, what]);
  for (const control of controls) if (control.key) rows.push([control.key, control.name]);
  const shown = rows.flatMap(([key, what]) => [
    el("kbd", { textContent: key.length === 1 ? key.toUpperCase() : key }), el("span", { textContent: what }),
  ]);
  $("keys").replaceChildren(...shown);
};
addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) {
    if ((event.ctrlKey || event.metaKey) && key === "z" && !target.matches("input, textarea")) act.undo();
    return;
  }
  if (target.matches("input:not([type=checkbox]):not([type=range]), textarea, select")) return;
  if ($("help").open && key !== "?" && key !== "h") return;
  if (key === " " && target.matches("button, summary, input")) return; // it presses what has the focus
  const own = (page.header?.controls || []).findIndex((control) => control.key === key.toLowerCase());
  if (own >= 0) {
    if (!event.repeat) widgets[own].press?.();
  } else if (ARROWS[key] && target === canvas) camera.orbit(...ARROWS[key]);
  else if ((key === "+" || key === "-") && target === canvas) camera.zoom(key === "+" ? 0.9 : 1.1);
  else if (KEYS[key.length === 1 ? key.toLowerCase() : key]) {
    if (!event.repeat || key === ".") KEYS[key.length === 1 ? key.toLowerCase() : key][1]();
  } else return;
  event.preventDefault();
  redraw();
});
