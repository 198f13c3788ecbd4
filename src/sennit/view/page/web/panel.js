// The panel and all that is said beside the picture: what runs, parameters, plots, constraints, how it looks.
const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const SETTLING = 600; // ms for which a person's own setting is not overwritten by what the simulation says
const LISTED = 60; // constraints and watches that have a switch of their own
const MOST_GRAVITY = 100; // m/s², of each component, unless the scene has more

const touched = new Map(); // when a person changed something, by name
const touch = (name) => touched.set(name, performance.now());
const settled = (name) => performance.now() - (touched.get(name) ?? -Infinity) > SETTLING;
const focused = (input) => document.activeElement === input;

// -------------------------------------------------------------------------------------------------------------- folds
const folds = {}; // by title
const fold = (title, rank, open) => {
  if (!folds[title]) {
    const body = el("div"), made = el("details", { open }, el("summary", { textContent: title }), body);
    made.dataset.rank = rank;
    made.ontoggle = () => inform(Infinity);
    const after = [...$("panel").children].find((other) => +other.dataset.rank > rank);
    $("panel").insertBefore(made, after || null);
    folds[title] = { made, body };
  }
  folds[title].made.hidden = false;
  return folds[title].body;
};
const unfold = (title) => { if (folds[title]) folds[title].made.hidden = true; };
const box = (label, checked, act, title = "") => {
  const input = el("input", { type: "checkbox", checked, onchange: () => act(input.checked) });
  return el("label", { title }, label, input);
};
const menu = (label, choices, value, act) => {
  const input = el("select", { onchange: () => act(input.value), aria: { label } });
  for (const choice of choices) input.add(new Option(choice, choice, false, choice === value));
  return el("label", {}, label, input);
};
const button = (text, act, properties = {}) =>
  el("button", { type: "button", textContent: text, onclick: act, ...properties });

// ---------------------------------------------------------------------------------------------------------- parameters
let widgets = []; // of controls: {set, name}
const buildControls = (controls) => {
  widgets = [];
  if (!controls.length) return unfold("Parameters");
  const body = fold("Parameters", 2, true);
  body.replaceChildren();
  let row = null;
  for (const [number, control] of controls.entries()) {
    const put = (value) => {
      touch(control.name);
      ask("control", { control: number, value });
    };
    const made = MAKERS[control.kind](control, put);
    widgets.push({ name: control.name, kind: control.kind, ...made });
    if (control.kind === "button") {
      if (!row) body.append(row = el("div", { className: "row" }));
      row.append(made.node);
    } else {
      row = null;
      body.append(made.node);
    }
  }
  return undefined;
};
const keyed = (node, key) => {
  if (key) node.append(el("kbd", { textContent: key, title: "key" }));
  return node;
};
const MAKERS = {
  button: (control, put) => {
    const node = keyed(button(control.name, () => put(null)), control.key);
    return { node, press: () => put(null) };
  },
  switch: (control, put) => {
    const node = box(control.name, !!control.value, put), input = node.querySelector("input");
    input.before(keyed(el("span"), control.key));
    node.style.gridTemplateColumns = "1fr auto auto";
    return { node, set: (value) => { input.checked = value > 0.5; }, press: () => input.click() };
  },
  menu: (control, put) => {
    const node = menu(control.name, control.choices, control.value, put), input = node.querySelector("select");
    return { node, set: (value) => { if (input.selectedIndex !== value) input.selectedIndex = value; } };
  },
  text: (control, put) => {
    const input = el("input", { type: "text", value: control.value, maxLength: 200, onchange: () => put(input.value) });
    return { node: el("label", {}, control.name, input), write: (text) => { if (!focused(input)) input.value = text; } };
  },
  slider: (control, put) => {
    const [low, high] = control.range, step = (high - low) / 200;
    const name = control.unit ? `${control.name} (${control.unit})` : control.name;
    const number = el("input", {
      type: "number", inputMode: "decimal", step: "any", min: low, max: high, aria: { label: `${name}, number` },
    });
    const slide = el("input", { type: "range", min: low, max: high, step, aria: { label: name } });
    const set = (value) => {
      slide.value = value;
      if (!focused(number)) number.value = +value.toPrecision(4);
    };
    slide.oninput = () => {
      number.value = +(+slide.value).toPrecision(4);
      put(+slide.value);
    };
    number.onchange = () => {
      const value = Math.min(Math.max(+number.value, low), high);
      if (number.value === "" || !Number.isFinite(value)) return set(+slide.value);
      number.value = value;
      slide.value = value;
      return put(value);
    };
    const words = el("span", {}, control.name, " ", el("span", { className: "unit", textContent: control.unit }));
    set(+control.value);
    return { node: el("label", {}, words, number, slide), set };
  },
};

// ------------------------------------------------------------------------------------------------------------- gravity
const buildGravity = (gravity, first) => {
  if (!gravity) return unfold("Gravity");
  if (folds.Gravity && !first) return undefined;
  const body = fold("Gravity", 5, false), most = Math.max(MOST_GRAVITY, 2 * Math.hypot(...gravity));
  const inputs = gravity.map((value, k) => el("input", {
    type: "number", step: 0.1, min: -most, max: most, value: +value.toFixed(4), aria: { label: `gravity along ${"xyz"[k]}` },
  }));
  const put = () => {
    const value = inputs.map((input) => Math.min(Math.max(+input.value, -most), most));
    if (value.every(Number.isFinite)) ask("gravity", { value });
  };
  for (const input of inputs) input.onchange = put;
  body.replaceChildren(el("div", { className: "row" }, ...inputs, el("span", { className: "unit", textContent: "m/s²" })));
  page.resetGravity = () => inputs.forEach((input, k) => { input.value = +gravity[k].toFixed(4); });
  return undefined;
};

// --------------------------------------------------------------------------------------------------------- constraints
const HINT = "Right click (or Shift + click, or a long touch) pins a body where it is. On the mark of a pin it takes it "
  + "away, on another mark it switches that constraint.";
let tieBoxes = [];
const buildTies = (ties, handles) => {
  if (!ties.length && !handles.length && !folds.Constraints) return;
  const body = fold("Constraints", 6, false), names = distinct(ties.map((tie) => tie.name));
  const rows = ties.slice(0, LISTED).map((tie, number) => {
    const label = box(names[number], tie.enabled, (on) => {
      touch(`tie ${number}`);
      ask("switch", { tie: number, on });
    }, tie.kind);
    const away = button("✕", () => ask("remove", { tie: number }), {
      title: "Remove it; Reset brings it back", aria: { label: `Remove ${names[number]}` },
    });
    return el("div", { className: "tie" }, label, away);
  });
  tieBoxes = rows.map((row) => row.querySelector("input"));
  const more = [];
  if (ties.length > LISTED) {
    const choice = menu("others", names.slice(LISTED), names[LISTED], () => {});
    const chosen = () => LISTED + choice.querySelector("select").selectedIndex;
    more.push(choice, el("div", { className: "row" },
      button("Switch", () => ask("switch", { tie: chosen(), on: !(page.ties[chosen()] > 0.5) })),
      button("Remove it", () => ask("remove", { tie: chosen() }))));
  }
  body.replaceChildren(
    el("p", { className: "hint", textContent: HINT }),
    el("div", { className: "row" }, button("Pin what I grabbed last", () => hand.pin())),
    ...(handles.length ? [box("gizmos", gizmos.shown, (on) => gizmos.show(on), "arrows that move what is held")] : []),
    ...rows, ...more,
  );
};
const distinct = (names) => {
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) || 0) + 1);
  return names.map((name, k) => (counts.get(name) > 1 ? `${name} · ${k + 1}` : name));
};

// --------------------------------------------------------------------------------------------------------------- plots
const buildWatches = (watches) => {
  if (!watches.length) return unfold("Plots");
  const body = fold("Plots", 3, true);
  body.replaceChildren(el("div", { id: "charts" }));
  const choices = watches.slice(0, LISTED).map((watch, number) => {
    const label = watch.unit ? `${watch.name} (${watch.unit})` : watch.name;
    return box(label, plotted[watch.name] ?? watch.shown, (on) => {
      plotted[watch.name] = on;
      ask("watch", { watch: number, on });
      buildPlots();
    });
  });
  const any = watches.some((watch) => plotted[watch.name] ?? watch.shown);
  body.append(el("details", { open: !any }, el("summary", { textContent: "choose" }), ...choices));
  buildPlots();
  return undefined;
};

// ---------------------------------------------------------------------------------------------------- look and measure
const buildLook = (header) => {
  const fields = Object.keys(header.fields), body = fold("Look", 8, false);
  if (field && !fields.includes(field)) colourBy("");
  const colours = menu("colour by", ["bodies", ...fields], field || "bodies", (name) => {
    colourBy(name === "bodies" ? "" : name);
  });
  const dress = (name, label, title) => box(label, look[name], (on) => {
    look[name] = on;
    redraw();
  }, title);
  body.replaceChildren(
    ...(fields.length ? [colours] : []), dress("ties", "marks", "marks of constraints and loads"), dress("ground", "ground"),
    dress("shadows", "shadows", "turn off if the picture is slow"),
  );
  const measuring = fold("Measure", 9, false), rulers = ["ruler", "angle", "path"].map(toolButton);
  measuring.replaceChildren(el("div", { className: "row" }, ...rulers, button("Clear", clearMeasures)));
  for (const name of header.forces) {
    measuring.append(box(`forces of ${name}`, arrows[name], (on) => {
      arrows[name] = on;
      arrows.scale = 0;
      sendArrows();
    }));
  }
  const kinds = { html: "a page that plays it", mp4: "a film", glb: "a model that moves" };
  const saved = menu("record as", Object.keys(kinds), recordAs, (kind) => {
    recordAs = kind;
    hint.textContent = kinds[kind];
  });
  const hint = el("p", { className: "hint", textContent: kinds[recordAs] });
  fold("Record", 10, false).replaceChildren(saved, hint);
};

// ------------------------------------------------------------------------------------------------------- state of it all
let described = {}, recordAs = "html";
const again = (name, what, build) => {  // what is described as before stays as it is: folds, focus, half typed numbers
  const text = JSON.stringify(what, (key, value) => (key === "value" || key === "enabled" ? undefined : value));
  if (described[name] === text) return;
  described[name] = text;
  build();
};
recasts.push((header, before, first) => {
  if (first) {
    $("panel").classList.toggle("away", innerWidth <= WIDE);
    $("open").setAttribute("aria-expanded", innerWidth > WIDE);
    $("undo").hidden = !header.undoing;
  }
  again("controls", header.controls, () => buildControls(header.controls));
  again("watches", header.watches.map((w) => [w.name, w.unit]), () => {
    history = [];
    buildWatches(header.watches);
  });
  again("gravity", header.gravity !== null, () => buildGravity(header.gravity, first));
  again("ties", [header.ties.map((t) => [t.name, t.kind]), header.handles], () => buildTies(header.ties, header.handles));
  again("look", [header.fields, header.forces], () => buildLook(header));
  again("readouts", header.readouts, () => buildBoard(header.readouts));
  fillKeys(header.controls);
  tell();
  if (opened) arrange();
});

const buildBoard = (names) => {
  const row = (name) => el("div", {}, el("dt", { textContent: name }), el("dd", { textContent: "–" }));
  $("board").replaceChildren(...names.map(row));
  $("board").hidden = !names.length;
};
const tell = () => {  // why it has failed, what was done to steps lately, what read-outs say: as soon as it is known
  const { failed, spell, shows, undo, tape } = page.said;
  $("failure").hidden = !failed;
  $("failure").lastElementChild.textContent = failed;
  $("spell").hidden = !spell;
  if (spell) {
    const [kind, steps, message] = spell;
    $("spell").firstElementChild.textContent = kind;
    $("spell").lastElementChild.textContent = `${steps} step${steps > 1 ? "s" : ""}`;
    $("spell").title = message || "";
  }
  [...$("board").children].forEach((row, k) => {
    const text = row.lastElementChild;
    if (shows && shows[k] !== undefined && text.textContent !== shows[k]) text.textContent = shows[k];
  });
  $("undo").disabled = !undo;
  $("record").setAttribute("aria-pressed", tape === "on");
  $("record").setAttribute("aria-label", tape === "on" ? "Stop recording" : "Record");
  $("record").title = {
    on: "Stop, and have the file written", writing: "A file is being written", "": "Record what is seen",
  }[tape] || "";
};

let nextWords = 0;
const inform = (now) => {  // a few times a second
  if (!page.header || now < nextWords) return;
  nextWords = Number.isFinite(now) ? now + 120 : 0;
  const s = page.status, paused = s.paused > 0.5, recent = pictures.filter((p) => performance.now() - p.at < 1500).length;
  const play = $("play"), failed = !!page.said.failed;
  play.classList.toggle("on", !paused);
  play.setAttribute("aria-label", paused ? "Run" : "Pause");
  $("time").textContent = `${s.time.toFixed(2)} s`;
  $("pace").textContent = paused ? (failed ? "failed" : "paused") : `${s.pace.toFixed(2)}×`;
  $("pace").className = !paused && s.pace < 0.9 * s.speed ? "slow" : "";
  const step = s.step_us < 1e4 ? `${Math.round(s.step_us)} µs` : `${Math.round(s.step_us / 1e3)} ms`;
  const each = Math.round(recent / 1.5), rate = recent > 1 ? `${each} picture${each === 1 ? "" : "s"}/s` : "still";
  if (!page.over) {
    $("state").textContent = `step ${step} · ${rate}${page.windows > 1 ? ` · ${page.windows} windows` : ""}`;
  }
  const squares = drawing && look.ground && camera.eye[2] > drawing.groundHeight;
  $("scale").hidden = !squares;
  if (squares) $("scale").textContent = `squares of ${lengthText(drawing.grid)}`;
  if (settled("speed")) {
    const near = SPEEDS.reduce((a, b) => (Math.abs(Math.log(b / s.speed)) < Math.abs(Math.log(a / s.speed)) ? b : a));
    if ($("speed").value !== String(near) && !focused($("speed"))) $("speed").value = near;
  }
  const texts = [...(page.said.texts || [])];
  for (const [k, widget] of widgets.entries()) {
    const text = widget.kind === "text" ? texts.shift() : null;
    if (!settled(widget.name)) continue;
    if (widget.set) widget.set(page.controls[k]);
    if (widget.write && text !== undefined) widget.write(text);
  }
  tieBoxes.forEach((input, k) => { if (settled(`tie ${k}`)) input.checked = page.ties[k] > 0.5; });
  if (folds.Plots && folds.Plots.made.open && !$("panel").classList.contains("away")) charts.forEach(plot);
};

for (const speed of SPEEDS) $("speed").add(new Option(`${speed}×`, speed));
$("speed").value = 1;
$("speed").onchange = () => {
  touch("speed");
  ask("speed", { value: +$("speed").value });
};
const act = {
  play: () => ask(page.status.paused > 0.5 ? "run" : "pause"),
  step: () => ask("step"),
  reset: () => {
    ask("reset");
    page.resetGravity?.();
  },
  undo: () => ask("undo"),
  record: () => ask("record", { on: page.said.tape !== "on", kind: recordAs }),
  open: () => {
    const away = $("panel").classList.toggle("away");
    $("open").setAttribute("aria-expanded", !away);
    if (camera.touched) arrange();
    else home();
  },
  ask: () => ($("help").open ? $("help").close() : $("help").showModal()),
};
for (const [name, does] of Object.entries(act)) $(name).onclick = does;
