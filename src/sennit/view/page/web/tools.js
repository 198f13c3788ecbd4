// What the left button does while a tool is chosen: rulers (measure.js), scissors. A tool has a title, what it asks for,
// `click`, and perhaps `stroke` (called with each piece of a stroke), `lift` (the stroke has ended), `leave` (another
// tool is chosen, or none, or the stroke was broken off) and `denied` (why it is of no use here, or "").
const tools = {};
const tool = { name: "", get chosen() { return tools[this.name]; } };

const choose = (name) => {  // the tool that is chosen is put away
  const wanted = name === tool.name ? "" : name, denied = tools[wanted]?.denied?.();
  if (denied) return note("info", denied);
  tool.chosen?.leave?.();
  tool.name = wanted;
  for (const shown of document.querySelectorAll("[data-tool]")) {
    shown.setAttribute("aria-pressed", shown.dataset.tool === wanted);
  }
  if (wanted) note("info", tools[wanted].asks, 4);
  return redraw();
};
const toolButton = (name) => {
  const made = button(tools[name].title, () => choose(name), { aria: { pressed: tool.name === name } });
  made.dataset.tool = name;
  return made;
};
