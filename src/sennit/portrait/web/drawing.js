// Draws parts (sennit.portrait.parts) with WebGL 2. The page, the replay player and films in notebooks share this file.
//
//   const drawing = new Drawing(canvas, { software })  throws an Error that says why where there is no WebGL 2
//   Drawing.inSoftware()                               whether this browser draws without a graphics processor
//   drawing.cast(parts, raw)                           what never changes: `parts` and `raw` as portrait/packed.py makes
//                                                      them; whatever was there before is gone
//   drawing.place(number, block)                       one part in one frame: a Float32Array as portrait/parts.py lays
//                                                      it out (shown, then places); nothing is drawn yet
//   drawing.paint(field, low, high, ramp)              colour by the field of that name from `low` to `high`; `ramp`:
//                                                      256 colours (768 bytes); paint(null): the bodies' own colours
//   drawing.room(low, high, ground)                    the box that light and shadows are for, and where the ground is
//   drawing.draw(look)                                 draws all of it; look: {dark, ground, shadows, ties, fine}; fine: as
//                                                      well as can be, for a picture that stays (in software else coarser)
//   drawing.sharpness                                  share of the pixels, in each direction, of what is not fine
//   drawing.grid                                       distance of the lines on the ground, m
//   drawing.camera                                     see Camera below: orbit, pan, zoom, fit, look, ray, pixelOf
//   drawing.parts                                      descriptions; `shown` says whether a part is seen now
//   drawing.bounds()                                   box round what is shown, as [low, high, corners of parts' boxes, those of decor]
//   drawing.fields()                                   names of the fields that some part carries
//
// Nothing is drawn between two calls of `draw`, and `draw` draws what `place` was last told of every part: a picture is
// of one moment. Vertices are never moved by this script: each frame writes poses and stations into two textures, from
// which the vertex shaders place them; ten thousand parts are a handful of calls. Lengths in m, z is up, angles in rad.

const SUN = unit([-0.42, -0.5, 0.78]);
const UNDER = 1.4; // half of the width of what contact darkens, in radii of the room

class Drawing extends Figures {
  constructor(canvas, { software = false } = {}) {
    super(canvas, { software });
    this.camera = new Camera(canvas);
    this.mapSize = software ? 1024 : 2048;
    this.nearSize = software ? 128 : 256;
    this.soft = software ? 1 : 2; // how shadows are drawn, see LIGHT
    this.sharpness = 1;
    this.drawn = 0; // pictures
    this.solidShading = this.program(SOLID_VERTEX, FRAGMENT);
    this.bentShading = this.program(BENT_VERTEX, FRAGMENT);
    this.solidDepth = this.program(SOLID_VERTEX, DEPTH_FRAGMENT);
    this.bentDepth = this.program(BENT_VERTEX, DEPTH_FRAGMENT);
    this.solidNear = this.program(SOLID_VERTEX, NEAR_FRAGMENT);
    this.bentNear = this.program(BENT_VERTEX, NEAR_FRAGMENT);
    this.solidFront = this.program(SOLID_VERTEX, FRONT_FRAGMENT);
    this.bentFront = this.program(BENT_VERTEX, FRONT_FRAGMENT);
    this.blurring = this.program(SKY_VERTEX, BLUR_FRAGMENT);
    this.groundShading = this.program(GROUND_VERTEX, GROUND_FRAGMENT);
    this.skyShading = this.program(SKY_VERTEX, SKY_FRAGMENT);
    this.groundShape = this.shape([[0, 2, new Float32Array([-1, -1, 1, -1, 1, 1, -1, -1, 1, 1, -1, 1])]]);
    this.skyShape = this.shape([[0, 2, new Float32Array([-1, -1, 3, -1, -1, 3])]]);
    this.makeShadowMap();
    this.makeNearness();
    this.room([-0.5, -0.5, -0.5], [0.5, 0.5, 0.5], null);
  }

  makeShadowMap() {
    const gl = this.gl, size = this.mapSize;
    this.shadowMap = this.texture(gl.LINEAR);
    gl.texImage2D(
      gl.TEXTURE_2D, 0, gl.DEPTH_COMPONENT24, size, size, 0, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, null,
    );
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL);
    this.shadowFrame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowFrame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.shadowMap, 0);
    gl.drawBuffers([gl.NONE]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  makeNearness() {  // a picture from below of how near things are to the ground, and room to blur it
    const gl = this.gl, size = this.nearSize;
    this.near = [0, 1].map(() => {
      const texture = this.texture(gl.LINEAR), frame = gl.createFramebuffer(), depth = gl.createRenderbuffer();
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.R8, size, size, 0, gl.RED, gl.UNSIGNED_BYTE, null);
      gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
      gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
      gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT16, size, size);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
      return { texture, frame };
    });
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.plainSampler = gl.createSampler(); // reads depths where `map` compares them
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.samplerParameteri(this.plainSampler, name, gl.NEAREST);
    gl.bindSampler(4, this.plainSampler);
  }

  // ------------------------------------------------------------------------------------------------- the picture
  room(low, high, ground) {
    this.middle = low.map((x, i) => (x + high[i]) / 2);
    this.radius = Math.max(norm(minus(high, low)) / 2, 1e-6);
    this.camera.size = 2 * this.radius;
    this.moved = true;
    this.groundHeight = ground ?? low[2] - 0.04 * this.radius;
    this.reach = 14 * this.radius;
    this.grid = 10 ** Math.round(Math.log10(this.radius / 5));
    const from = plus(this.middle, SUN, 3 * this.radius);
    this.lightView = times(
      parallel(1.25 * this.radius, 0.5 * this.radius, 6 * this.radius), looking(from, this.middle),
    );
  }

  draw(look = {}) {
    const gl = this.gl, canvas = this.canvas, { dark = false, ground = true, shadows = true, ties = true, fine = false } = look;
    this.drawn++;
    if (gl.isContextLost()) return;
    const ratio = (fine ? 1 : this.sharpness) * Math.min(devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    if (this.moved) {
      gl.activeTexture(gl.TEXTURE1);
      this.upload(this.partTexture, this.partData);
      gl.activeTexture(gl.TEXTURE2);
      this.upload(this.stationTexture, this.stationData);
    }
    this.bind([null, this.partTexture, this.stationTexture, this.rampTexture, null, null]);
    gl.enable(gl.DEPTH_TEST);
    if (shadows && (this.moved || this.shadowed !== ties)) {
      this.drawShadows(ties);
      if (ground) this.drawNearness(ties);
      this.shadowed = ties;
    }
    if (shadows) this.moved = false;
    this.bind([this.shadowMap, this.partTexture, this.stationTexture, this.rampTexture, this.shadowMap, this.near[0].texture]);
    const smooth = fine ? this.smoothFrame(width, height) : null;
    gl.bindFramebuffer(gl.FRAMEBUFFER, smooth);
    const { eye, distance } = this.camera, far = distance + 3 * this.reach;
    const view = this.camera.projection(Math.max(distance / 200, far / 1e5), far);
    const soft = !shadows ? 0 : fine ? 2 : this.soft;
    gl.viewport(0, 0, width, height);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    for (const shading of [this.solidShading, this.bentShading]) {
      this.prepare(shading, view, dark, soft, ties);
      gl.uniform3fv(shading.at.eye, eye);
      gl.uniform1i(shading.at.painted, this.field ? 1 : 0);
      gl.uniform1i(shading.at.ramp, 3);
      gl.uniform1f(shading.at.pixel, (2 * Math.tan(FIELD_OF_VIEW / 2)) / height);
    }
    this.drawSolids(this.solidShading, false);
    this.drawBent(this.bentShading, false);
    // what lies behind comes after: it is computed where it is seen only
    if (ground && eye[2] > this.groundHeight) this.drawGround(view, dark, soft, eye);
    this.drawSky(dark, width / height);
    if (this.bent.total > this.bent.opaque || this.groups.some((group) => group.glass)) this.drawGlass(view, ties);
    gl.bindVertexArray(null);
    if (!smooth) return;
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, smooth);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
    gl.blitFramebuffer(0, 0, width, height, 0, 0, width, height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  drawGlass(view, ties) {  // its front only: in which order its back and its front come is any, and would be seen
    const gl = this.gl;
    gl.colorMask(false, false, false, false);
    for (const [front, draw] of [[this.solidFront, this.drawSolids], [this.bentFront, this.drawBent]]) {
      this.prepare(front, view, false, 0, ties);
      gl.uniform1f(front.at.pixel, (2 * Math.tan(FIELD_OF_VIEW / 2)) / this.canvas.height);
      draw.call(this, front, true);
    }
    gl.colorMask(true, true, true, true);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthFunc(gl.LEQUAL);
    gl.depthMask(false);
    this.drawSolids(this.solidShading, true);
    this.drawBent(this.bentShading, true);
    gl.depthMask(true);
    gl.depthFunc(gl.LESS);
    gl.disable(gl.BLEND);
  }

  finish() {  // waits until everything is drawn
    this.gl.readPixels(0, 0, 1, 1, this.gl.RGBA, this.gl.UNSIGNED_BYTE, new Uint8Array(4));
  }

  prepare(shading, view, dark, soft, ties) {
    const gl = this.gl, at = shading.at, [x, y] = this.middle;
    gl.useProgram(shading.p);
    gl.uniformMatrix4fv(at.view, false, view);
    gl.uniformMatrix4fv(at.lightView, false, this.lightView);
    gl.uniform1f(at.texelSize, 1 / this.mapSize);
    gl.uniform1i(at.soft, soft);
    gl.uniform1f(at.dark, dark ? 1 : 0);
    gl.uniform3fv(at.light, SUN);
    gl.uniform4f(at.under, x, y, UNDER * this.radius, this.radius);
    gl.uniform1f(at.groundHeight, this.groundHeight);
    ["map", "partData", "stationData", "ramp", "depths", "nearness"].forEach((name, k) => gl.uniform1i(at[name], k));
    gl.uniform1i(at.ties, ties ? 1 : 0);
    gl.uniform1f(at.pixel, 0);
  }

  drawShadows(ties) {
    const gl = this.gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowFrame);
    gl.viewport(0, 0, this.mapSize, this.mapSize);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(2, 4);
    for (const [shading, draw] of [[this.solidDepth, this.drawSolids], [this.bentDepth, this.drawBent]]) {
      this.prepare(shading, this.lightView, false, 1, ties);
      gl.uniform1f(shading.at.pixel, (2.5 * this.radius) / this.mapSize); // or shadows of thin ropes have holes
      draw.call(this, shading, false);
      draw.call(this, shading, true);
    }
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  drawNearness(ties) {
    const gl = this.gl, size = this.nearSize, wide = UNDER * this.radius, high = 0.6 * this.radius;
    const [x, y] = this.middle, low = this.groundHeight - 0.02 * high;
    const fromBelow = new Float32Array([
      1 / wide, 0, 0, 0, 0, 1 / wide, 0, 0, 0, 0, 2 / high, 0, -x / wide, -y / wide, (-2 * low) / high - 1, 1,
    ]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.near[0].frame);
    gl.viewport(0, 0, size, size);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    for (const [shading, draw] of [[this.solidNear, this.drawSolids], [this.bentNear, this.drawBent]]) {
      this.prepare(shading, fromBelow, false, 1, ties);
      draw.call(this, shading, false);
    }
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(this.blurring.p);
    gl.uniform1i(this.blurring.at.picture, 0);
    gl.bindVertexArray(this.skyShape.vao);
    for (const [from, to, way] of [[0, 1, [1.6, 0]], [1, 0, [0, 1.6]]]) {
      gl.bindTexture(gl.TEXTURE_2D, this.near[from].texture);
      gl.bindFramebuffer(gl.FRAMEBUFFER, this.near[to].frame);
      gl.uniform2f(this.blurring.at.way, way[0] / size, way[1] / size);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    }
    gl.enable(gl.DEPTH_TEST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  drawSky(dark, aspect) {
    const gl = this.gl, { at } = this.skyShading, [right, up, back] = this.camera.axes, free = this.camera.free;
    const slope = Math.tan(FIELD_OF_VIEW / 2);
    this.prepare(this.skyShading, this.lightView, dark, 0, true);
    gl.uniform3fv(at.right, right.map((c) => c * slope * aspect));
    gl.uniform3fv(at.up, up.map((c) => c * slope));
    gl.uniform3fv(at.back, back.map((c, i) => c + slope * (free.x * aspect * right[i] + free.y * up[i])));
    gl.bindVertexArray(this.skyShape.vao);
    gl.depthMask(false);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.depthMask(true);
  }

  drawGround(view, dark, soft, eye) {
    const gl = this.gl, { at } = this.groundShading;
    this.prepare(this.groundShading, view, dark, soft, true);
    gl.uniform3fv(at.centre, [this.middle[0], this.middle[1], this.groundHeight]);
    gl.uniform3fv(at.eye, eye);
    gl.uniform1f(at.reach, this.reach);
    gl.uniform1f(at.grid, this.grid);
    gl.bindVertexArray(this.groundShape.vao);
    gl.enable(gl.POLYGON_OFFSET_FILL); // a scene's own floor of the same height is hidden by it
    gl.polygonOffset(-1, -32);
    gl.drawArrays(gl.TRIANGLES, 0, 6);
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }
}
