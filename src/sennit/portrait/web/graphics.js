// What is drawn with: programs, shapes and textures of WebGL 2, without a word of what they are for.
class Graphics {
  constructor(canvas, { software = false } = {}) {
    const gl = canvas.getContext("webgl2", {
      antialias: !software, alpha: true, powerPreference: "high-performance",
    });
    if (!gl) throw new Error("This browser can't draw in three dimensions: it has no WebGL 2, or it is switched off.");
    this.gl = gl;
    this.canvas = canvas;
    this.software = software;
  }

  static inSoftware() {
    const gl = document.createElement("canvas").getContext("webgl2");
    if (!gl) return true;
    const info = gl.getExtension("WEBGL_debug_renderer_info");
    const name = info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
    gl.getExtension("WEBGL_lose_context")?.loseContext();
    return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
  }

  program(vertex, fragment) {
    const gl = this.gl, p = gl.createProgram(), at = {};
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
        throw new Error(`This browser refuses to draw: ${gl.getShaderInfoLog(shader)}`);
      }
      gl.attachShader(p, shader);
    }
    gl.linkProgram(p);
    for (let k = 0; k < gl.getProgramParameter(p, gl.ACTIVE_UNIFORMS); k++) {
      const name = gl.getActiveUniform(p, k).name;
      at[name] = gl.getUniformLocation(p, name);
    }
    return { p, at };
  }

  shape(attributes, indices = null) {  // rows of: location, numbers a vertex, data, divisor
    const gl = this.gl, vao = gl.createVertexArray(), buffers = [];
    gl.bindVertexArray(vao);
    for (const [location, size, data, divisor] of attributes) {
      const buffer = gl.createBuffer(), bytes = data instanceof Uint8Array;
      buffers.push(buffer);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(location);
      gl.vertexAttribPointer(location, size, bytes ? gl.UNSIGNED_BYTE : gl.FLOAT, bytes, 0, 0);
      if (divisor) gl.vertexAttribDivisor(location, divisor);
    }
    if (indices) {
      buffers.push(gl.createBuffer());
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers[buffers.length - 1]);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
    }
    gl.bindVertexArray(null);
    return { vao, buffers };
  }

  forget(shape) {
    if (!shape) return;
    for (const buffer of shape.buffers) this.gl.deleteBuffer(buffer);
    this.gl.deleteVertexArray(shape.vao);
  }

  texture(filter = this.gl.NEAREST) {
    const gl = this.gl, texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    for (const [name, value] of [
      [gl.TEXTURE_MIN_FILTER, filter], [gl.TEXTURE_MAG_FILTER, filter], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
      [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
    ]) gl.texParameteri(gl.TEXTURE_2D, name, value);
    return texture;
  }

  upload(texture, data) {  // data: rows of ROW texels
    const gl = this.gl, rows = data.length / (4 * ROW);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    if (texture.rows !== rows) {
      texture.rows = rows;
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, ROW, rows, 0, gl.RGBA, gl.FLOAT, data);
    } else gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, ROW, rows, gl.RGBA, gl.FLOAT, data);
  }

  bind(textures) {
    const gl = this.gl;
    for (const [unit, texture] of textures.entries()) {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, texture);
    }
    gl.activeTexture(gl.TEXTURE0);
  }

  smoothFrame(width, height) {  // room for a picture whose edges are smoothed, as a graphics processor does by itself
    const gl = this.gl;
    if (this.smooth?.width === width && this.smooth?.height === height) return this.smooth.frame;
    if (this.smooth) {
      gl.deleteFramebuffer(this.smooth.frame);
      this.smooth.buffers.forEach((buffer) => gl.deleteRenderbuffer(buffer));
    }
    const frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    const buffers = [[gl.RGBA8, gl.COLOR_ATTACHMENT0], [gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT]].map(([format, where]) => {
      const buffer = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
      gl.renderbufferStorageMultisample(gl.RENDERBUFFER, 4, format, width, height);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, where, gl.RENDERBUFFER, buffer);
      return buffer;
    });
    this.smooth = { frame, buffers, width, height };
    return frame;
  }
}
