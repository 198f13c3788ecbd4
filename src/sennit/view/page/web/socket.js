// The connection. The browser asks for a frame when it can draw one: however slow it is, none waits on the way.
const NAMES = { 1: "cast", 2: "frame", 3: "file" };
let socket = null, pending = null, tries = 0;

const tellServer = (message) => {
  if (socket && socket.readyState === 1) socket.send(JSON.stringify(message));
};
// Commands name things by numbers of one generation, which they carry: one that comes too late does nothing.
const ask = (command, more = {}) => {
  tellServer({ do: command, generation: page.header ? page.header.generation : 0, ...more });
};
ask.next = () => tellServer({ do: "next" });

const recast = ({ header, arrays }) => {
  const before = drawing ? drawing.parts : [], first = page.header === null;
  page.header = header;
  page.arrays = arrays;
  document.title = header.title;
  document.querySelector("h1").textContent = header.title;
  if (drawing) drawing.cast(header.parts, arrays);
  for (const act of recasts) act(header, before, first);
};

const take = {
  cast(data) {
    const length = new Uint32Array(data, 4, 1)[0], text = new TextDecoder().decode(new Uint8Array(data, 8, length));
    pending = { header: JSON.parse(text), arrays: data.slice(8 + length) };
  },
  frame(data) {
    const generation = new Uint32Array(data, 4, 1)[0];
    // A cast is taken over with its first frame: nothing is drawn in between.
    if (pending && pending.header.generation === generation) {
      recast(pending);
      pending = null;
    }
    if (!page.header || page.header.generation !== generation) return ask.next();
    const { status, layout } = page.header, head = new Float64Array(data, 8, 1 + status.length);
    page.stamp = head[0];
    status.forEach((name, k) => { page.status[name] = head[1 + k]; });
    const numbers = new Float32Array(data, 8 * (2 + status.length)), count = numbers[0], width = numbers[1];
    page.samples = numbers.subarray(2, 2 + count * width);
    let at = 2 + count * width;
    for (const [name, size] of [["watches", 1], ["controls", 1], ["ties", 1], ["handles", 7], ["arrows", 6]]) {
      page[name] = numbers.subarray(at, at + size * layout[name]);
      at += size * layout[name];
    }
    page.blocks = numbers.subarray(at);
    page.fresh = true;
    for (const act of frames) act();
    // A quick browser asks at once, a slow one when what came is drawn: else it would draw what is old.
    const last = pictures.at(-1);
    if (drawing && (!last || last.took > 25)) page.waits = true;
    else ask.next();
  },
  file(data) {
    const length = new Uint32Array(data, 4, 1)[0];
    const { name, type } = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 8, length)));
    const link = el("a", { href: URL.createObjectURL(new Blob([data.slice(8 + length)], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    note("info", `${name} is written.`);
  },
};

const hear = (said) => {
  if (said.say === "note") note(said.level, said.text);
  else if (said.say === "refused") hand.refused();
  else if (said.say === "windows") page.windows = said.count;
  else if (said.say === "bye") ended("The simulation has ended.");
  else if (said.say === "state") {
    page.said = { shows: [], texts: [], ...said };
    tell();
  }
};

const ended = (text) => {
  if (page.over) return;
  page.over = true;
  $("state").textContent = text;
  note("error", text, 3600);
};

const connect = () => {
  const address = new URL("ws", location.href.replace(/[?#].*$/, ""));
  address.protocol = address.protocol.replace("http", "ws");
  socket = new WebSocket(address);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => {
    tries = 0;
    page.waits = false;
    ask.next();
    sendArrows();
  };
  socket.onmessage = ({ data }) => {
    if (typeof data === "string") hear(JSON.parse(data));
    else take[NAMES[new Uint32Array(data, 0, 1)[0]]]?.(data);
  };
  socket.onclose = ({ code }) => {
    hand.refused();
    if (code === 1013) ended("Too many windows look at this page already.");
    if (page.over) return;
    tries++;
    if (tries > 5) ended("The connection to the simulation is lost: it has ended, or the page is to be loaded again.");
    else setTimeout(connect, 300 * tries * tries);
  };
};
connect();

// What tests and scripts may use; `page` and all else is as it is now.
window.sennit = {
  page, drawing, camera, look, pictures, positionOf, nearest, pick: (x, y) => nearest(camera.ray(x, y), ["body"]),
  renumbered, texels: [PART_TEXELS, STATION_TEXELS, ROW], FollowedRange, quantity, ticks, colourBy, home, redraw, ask: (message) => tellServer(message),
};
