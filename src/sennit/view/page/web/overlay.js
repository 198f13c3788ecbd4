// Lines and words over the picture: the hand, gizmos, arrows of forces, paths, rulers. They are drawn with the picture,
// from the same frame; the canvas is hidden while there is nothing to draw, for it costs time.
const over = $("over");
const overlays = []; // functions of (pen): each draws something, and returns whether it did
const LARGE = () => innerWidth >= 2600; // as in page.css
const HAND_COLOUR = "#f08a3c";

class Pen {
  constructor(context, ratio) {
    this.context = context;
    this.ratio = ratio;
    this.used = false;
  }

  begin(width, height) {
    const { context, ratio } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.lineCap = context.lineJoin = "round";
    context.font = `600 ${LARGE() ? 22 : 13}px system-ui, sans-serif`;
  }

  line(places, colour, width = 2, dash = []) {  // places in m
    this.trace(places.map((place) => camera.pixelOf(place)), colour, width, dash);
  }

  trace(pixels, colour, width = 2, dash = []) {  // null: nowhere in the picture
    const { context } = this;
    context.beginPath();
    let down = false;
    for (const pixel of pixels) {
      if (!pixel) down = false;
      else if (down) context.lineTo(pixel[0], pixel[1]);
      else {
        context.moveTo(pixel[0], pixel[1]);
        down = true;
      }
    }
    context.setLineDash(dash);
    context.strokeStyle = look.dark ? "rgba(0, 0, 0, 0.55)" : "rgba(255, 255, 255, 0.75)";
    context.lineWidth = width + 2.5;
    context.stroke();
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.stroke();
    context.setLineDash([]);
    this.used = true;
  }

  dot(place, colour, radius = 4.5) {
    const pixel = camera.pixelOf(place), { context } = this;
    if (!pixel) return;
    context.beginPath();
    context.arc(pixel[0], pixel[1], radius, 0, 7);
    context.fillStyle = colour;
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = look.dark ? "#14171c" : "#fff";
    context.stroke();
    this.used = true;
  }

  arrow(place, end, colour, width = 2.5) {
    const a = camera.pixelOf(place), b = camera.pixelOf(end), { context } = this;
    if (!a || !b) return;
    const x = b[0] - a[0], y = b[1] - a[1], size = Math.hypot(x, y), head = Math.min(10, 0.6 * size);
    this.line([place, end], colour, width);
    if (size < 2) return;
    const u = (x / size) * head, v = (y / size) * head;
    context.beginPath();
    context.moveTo(b[0] + 0.4 * u, b[1] + 0.4 * v);
    context.lineTo(b[0] - u - 0.5 * v, b[1] - v + 0.5 * u);
    context.lineTo(b[0] - u + 0.5 * v, b[1] - v - 0.5 * u);
    context.fillStyle = colour;
    context.fill();
  }

  words(place, text) {
    const pixel = camera.pixelOf(place), { context } = this;
    if (!pixel) return;
    const wide = context.measureText(text).width + 12, tall = LARGE() ? 34 : 22, x = pixel[0] + 9, y = pixel[1] - tall - 4;
    context.fillStyle = look.dark ? "rgba(28, 33, 41, 0.9)" : "rgba(255, 255, 255, 0.92)";
    context.beginPath();
    context.roundRect(x, y, wide, tall, 6);
    context.fill();
    context.fillStyle = look.dark ? "#e8ecf1" : "#26303c";
    context.fillText(text, x + 6, y + 0.7 * tall);
    this.used = true;
  }
}

const pen = new Pen(over.getContext("2d"), 1);
const drawOver = () => {
  const width = canvas.clientWidth, height = canvas.clientHeight, ratio = Math.min(devicePixelRatio || 1, 2);
  if (over.width !== Math.round(width * ratio) || over.height !== Math.round(height * ratio)) {
    over.width = Math.round(width * ratio);
    over.height = Math.round(height * ratio);
  }
  pen.ratio = ratio;
  const was = pen.used;
  pen.used = false;
  if (was) pen.begin(width, height);
  else pen.begin(1, 1);
  for (const overlay of overlays) overlay(pen);
  over.hidden = !pen.used;
};

overlays.push(() => {  // the line from the hand to what it holds
  const s = page.status;
  if (!s.holding) return;
  const hand = [s.hand_x, s.hand_y, s.hand_z], grip = [s.grip_x, s.grip_y, s.grip_z];
  pen.line([grip, hand], HAND_COLOUR, 2);
  pen.dot(grip, HAND_COLOUR, 3.5);
  pen.dot(hand, HAND_COLOUR, 5);
});
