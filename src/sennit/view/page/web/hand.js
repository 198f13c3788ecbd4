// The pointer: it drags whatever is under it, turns, shifts and zooms the view, pins, and moves gizmos.
const NEAR = { mouse: 9, pen: 12, touch: 22 }; // pixels within which a tube is met
const CLICK = 4; // pixels that a click may move
const LONG = 550; // ms of a touch that pins
const OFTEN = 16; // ms between two places of the hand

const fingers = new Map(); // pointers that are down: id to {x, y}
let press = null; // the one that began alone: where, with which button, what it met

const hand = {
  holds: false,
  last: null, // part and place that were grabbed or clicked last
  plane: null,
  sent: 0,
  waiting: null,

  grab(hit, ray) {
    this.holds = true;
    this.last = { part: hit.part, place: hit.place };
    this.plane = { at: hit.position, across: ray.ahead };
    ask("grab", { part: hit.part, place: hit.place });
  },
  move(x, y) {  // in the plane through the place that was met, across the line of sight
    const { origin, direction } = camera.ray(x, y), { at, across } = this.plane;
    const slope = dot(direction, across);
    if (Math.abs(slope) < 1e-6) return;
    this.wanted = plus(origin, direction, dot(minus(at, origin), across) / slope);
    if (this.waiting !== null) return;
    const rest = OFTEN - (performance.now() - this.sent);
    this.waiting = setTimeout(() => {
      this.waiting = null;
      this.sent = performance.now();
      if (this.holds) ask("drag", { hand: this.wanted });
    }, Math.max(rest, 0));
  },
  letGo() {
    if (!this.holds) return;
    if (this.waiting !== null) {
      clearTimeout(this.waiting);
      this.waiting = null;
      ask("drag", { hand: this.wanted });
    }
    this.holds = false;
    ask("release");
  },
  refused() {
    this.holds = false;
    canvas.classList.remove("held");
  },
  pin() {
    if (this.last) ask("pin", this.last);
  },
};
recasts.push((header, before) => {
  if (hand.last) hand.last = relocated(before, hand.last);
});

// A right click, or one with Shift, or a long touch: pins a body where it was met; takes a pin away; switches a tie.
const clickedAside = (x, y, pixels) => {
  const ray = camera.ray(x, y), body = nearest(ray, ["body"], pixels);
  const mark = look.ties ? nearest(ray, ["tie"], pixels) : null;
  const tie = mark ? page.header.ties.findIndex((t) => t.parts.includes(mark.part)) : -1;
  const ease = body ? 3 * pixels * camera.metresPerPixel(body.depth) : 0;
  if (tie >= 0 && (!body || mark.depth <= body.depth + ease)) {
    if (page.header.ties[tie].name.startsWith("pin ")) ask("remove", { tie });
    else ask("switch", { tie, on: !(page.ties[tie] > 0.5) });
  } else if (body) {
    hand.last = { part: body.part, place: body.place };
    hand.pin();
  }
};

const begin = (event) => {
  const pixels = NEAR[event.pointerType] || NEAR.mouse, x = event.clientX, y = event.clientY;
  press = { id: event.pointerId, x, y, pixels, button: event.button, shift: event.shiftKey, moved: false, does: "look" };
  if (event.button === 2 || event.button === 1) press.does = "shift";
  else if (event.button !== 0) press = null;
  else if (gizmos.press(x, y, pixels)) press.does = "gizmo";
  else if (event.shiftKey) press.does = "shift";
  else {
    const ray = camera.ray(x, y), hit = nearest(ray, ["body"], pixels);
    if (tool.chosen?.stroke) press.does = "stroke";
    else if (hit && !tool.name) Object.assign(press, { does: "hold", hit, ray });
  }
  if (!press) return;
  const own = press;
  if (own.does === "hold" && event.pointerType !== "touch") setTimeout(() => hold(own), 160); // held still, too
  if (event.pointerType === "touch") {
    setTimeout(() => {
      if (press !== own || own.moved || hand.holds || fingers.size !== 1 || own.does === "stroke") return;
      press = null;
      navigator.vibrate?.(15);
      clickedAside(x, y, pixels);
    }, LONG);
  }
};
const hold = (own) => {
  if (press !== own || own.does !== "hold" || hand.holds || own.held) return;
  own.held = true;
  hand.grab(own.hit, own.ray);
  hand.move(own.x, own.y);
};

const move = (event) => {
  const before = fingers.get(event.pointerId), x = event.clientX, y = event.clientY;
  if (!before) return hover(event);
  const dx = x - before.x, dy = y - before.y;
  fingers.set(event.pointerId, { x, y });
  if (fingers.size === 2) {
    const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
    const was = Math.hypot(before.x - other.x, before.y - other.y);
    camera.zoom(was / Math.max(Math.hypot(x - other.x, y - other.y), 1));
    camera.pan(dx / 2, dy / 2);
    redraw();
    return undefined;
  }
  if (!press || press.id !== event.pointerId) return undefined;
  if (!press.moved && Math.hypot(x - press.x, y - press.y) <= CLICK) return undefined;
  press.moved = true;
  if (press.does === "hold") {
    hold(press);
    hand.move(x, y);
  } else if (press.does === "gizmo") gizmos.move(x, y);
  else if (press.does === "stroke") {
    tool.chosen?.stroke?.(press.at || [press.x, press.y], [x, y]);
    press.at = [x, y];
  }
  else {
    const far = press.looked ? [dx, dy] : [x - press.x, y - press.y];
    press.looked = true;
    if (press.does === "shift") camera.pan(...far);
    else camera.orbit(...far);
    redraw();
  }
  return undefined;
};

const end = (event, cancelled) => {
  if (!fingers.delete(event.pointerId)) return;
  canvas.classList.toggle("held", fingers.size > 0);
  if (!press || press.id !== event.pointerId) return;
  const done = press;
  press = null;
  if (done.does === "gizmo") gizmos.release();
  if (done.does === "stroke" && done.moved) tool.chosen?.[cancelled ? "leave" : "lift"]?.();
  hand.letGo();
  if (cancelled || done.moved) return;
  const x = event.clientX, y = event.clientY;
  if (done.button === 2 || (done.button === 0 && done.shift)) clickedAside(x, y, done.pixels);
  else if (done.button === 0) tool.chosen?.click(x, y, done.pixels);
};

const hover = (event) => {
  if (event.pointerType === "touch" || !page.header) return;
  const { clientX: x, clientY: y } = event;
  const over = gizmos.under(x, y, NEAR.mouse) || nearest(camera.ray(x, y), ["body"]);
  canvas.style.cursor = tool.chosen?.stroke || (over && tool.name) ? "crosshair" : over ? "grab" : "default";
};

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  canvas.classList.add("held");
  if (fingers.size === 1 && page.header) begin(event);
  else if (press) {  // a second finger: the view, not the hand
    hand.letGo();
    if (press.does === "gizmo") gizmos.release();
    if (press.does === "stroke") tool.chosen?.leave?.();
    press = null;
  }
});
canvas.addEventListener("pointermove", move);
canvas.addEventListener("pointerup", (event) => end(event, false));
canvas.addEventListener("pointercancel", (event) => end(event, true));
canvas.addEventListener("lostpointercapture", (event) => end(event, true));
canvas.addEventListener("contextmenu", (event) => event.preventDefault());
canvas.addEventListener("dblclick", (event) => {
  if (!nearest(camera.ray(event.clientX, event.clientY), ["body"])) home(false);
});
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const turns = Math.max(-300, Math.min(300, event.deltaY * (event.deltaMode ? 20 : 1)));
  camera.zoom(Math.exp(0.0012 * turns));
  redraw();
}, { passive: false });

// ------------------------------------------------------------------------------------------------------------- gizmos
// Arrows that move what is held in the world, and rings that turn it, for each handle of the scene.
const AXES = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], AXIS_COLOURS = ["#d6504a", "#4f9e57", "#4577c9"];
const ARM = 64; // pixels

const product = (a, b) => [  // of quaternions
  a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
  a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
];

const gizmos = {
  shown: false,
  moving: null,

  pose(k) {
    if (this.moving && this.moving.number === k) return this.moving.pose;
    const row = page.handles.subarray(7 * k, 7 * k + 7);
    return { position: [...row.subarray(0, 3)], quaternion: [...row.subarray(3)] };
  },
  shapes(k) {  // lines of one gizmo: what each does, along which axis, its places
    const { position } = this.pose(k), pixel = camera.pixelOf(position);
    if (!pixel) return [];
    const arm = ARM * camera.metresPerPixel(pixel[2]), found = [];
    for (const [j, axis] of AXES.entries()) {
      found.push({ number: k, does: "shift", axis: j, places: [position, plus(position, axis, arm)] });
      if (!page.header.handles[k].turns) continue;
      const u = AXES[(j + 1) % 3], v = AXES[(j + 2) % 3], ring = [];
      for (let i = 0; i <= 32; i++) {
        const a = (2 * Math.PI * i) / 32;
        ring.push(plus(plus(position, u, 0.72 * arm * Math.cos(a)), v, 0.72 * arm * Math.sin(a)));
      }
      found.push({ number: k, does: "turn", axis: j, places: ring });
    }
    return found;
  },
  under(x, y, pixels) {  // the line that is nearest to a place of the window
    if (!this.shown) return null;
    let best = null;
    for (let k = 0; k < page.header.handles.length; k++) {
      for (const shape of this.shapes(k)) {
        const drawnAt = shape.places.map((place) => camera.pixelOf(place));
        for (let i = 0; i + 1 < drawnAt.length; i++) {
          if (!drawnAt[i] || !drawnAt[i + 1]) continue;
          const distance = toPiece([x, y], drawnAt[i], drawnAt[i + 1]);
          if (distance < pixels && (!best || distance < best.distance)) best = { ...shape, distance };
        }
      }
    }
    return best;
  },
  press(x, y, pixels) {
    const met = this.under(x, y, pixels);
    if (!met) return false;
    const pose = this.pose(met.number);
    this.moving = { ...met, start: pose, pose, sent: 0, at: this.along(met, pose, x, y) };
    return true;
  },
  along(met, pose, x, y) {  // how far along the axis, m, or round it, rad, the pointer is; null: it can't be said
    const { origin, direction } = camera.ray(x, y), axis = AXES[met.axis], w = minus(pose.position, origin);
    const b = dot(axis, direction);
    if (met.does === "shift") {
      return 1 - b * b < 1e-4 ? null : -(dot(w, axis) - b * dot(w, direction)) / (1 - b * b);
    }
    if (Math.abs(b) < 0.02) return null;
    const from = minus(plus(origin, direction, dot(w, axis) / b), pose.position);
    return Math.atan2(dot(from, AXES[(met.axis + 2) % 3]), dot(from, AXES[(met.axis + 1) % 3]));
  },
  move(x, y) {
    const m = this.moving, now = this.along(m, m.start, x, y), axis = AXES[m.axis];
    if (now === null || m.at === null) return;
    const { position, quaternion } = m.start, by = now - m.at;
    if (m.does === "shift") m.pose = { position: plus(position, axis, by), quaternion };
    else {
      const turn = [Math.cos(by / 2), ...axis.map((c) => c * Math.sin(by / 2))];
      m.pose = { position, quaternion: product(turn, quaternion) };
    }
    redraw();
    if (performance.now() - m.sent > OFTEN) this.send();
  },
  send() {
    this.moving.sent = performance.now();
    ask("handle", { handle: this.moving.number, ...this.moving.pose });
  },
  release() {
    if (this.moving) this.send();
    this.moving = null;
  },
  show(on) {
    this.shown = on;
    redraw();
  },
};
const toPiece = (p, a, b) => {
  const x = b[0] - a[0], y = b[1] - a[1];
  const share = Math.min(Math.max(((p[0] - a[0]) * x + (p[1] - a[1]) * y) / (x * x + y * y || 1), 0), 1);
  return Math.hypot(p[0] - a[0] - share * x, p[1] - a[1] - share * y);
};
overlays.push(() => {
  if (!gizmos.shown || !page.header) return;
  for (let k = 0; k < page.header.handles.length; k++) {
    for (const shape of gizmos.shapes(k)) {
      const colour = AXIS_COLOURS[shape.axis];
      if (shape.does === "shift") pen.arrow(...shape.places, colour, 3);
      else pen.line(shape.places, colour, 1.5);
    }
    pen.dot(gizmos.pose(k).position, "#8f99a5", 4);
  }
});
