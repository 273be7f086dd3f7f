/** Whether a graphics card draws WebGL2. */

const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i; // names of renderers without a graphics card
const HIDDEN = "Apple GPU"; // what WebKit says on every system
const SIDE = 512,
  READS = 32; // of a texture, by each pixel
const CARD_TIME = 4; // ms: the slowest cards of today need about 2, two cores of a processor 32 (measured)

const CORNERS = `#version 300 es
void main() { gl_Position = vec4(vec2[](vec2(-1), vec2(3, -1), vec2(-1, 3))[gl_VertexID], 0, 1); }`;
const READING = `#version 300 es
precision highp float;
uniform sampler2D source;
uniform int reads;
out vec4 color;
void main() {
  vec2 at = gl_FragCoord.xy / ${SIDE}.0;
  color = vec4(0);
  for (int k = 0; k < reads; k++) {
    color += texture(source, at) / ${READS}.0;
    at = 0.97 * at.yx + 0.01 + 0.001 * color.xy;
  }
}`;

/** Tell whether WebGL2 is drawn by the processor: that takes twice the work of a plain canvas (measured). */
export function isSoftware() {
  // WebKitGTK has no WebGL2 on an OffscreenCanvas.
  const canvas = Object.assign(document.createElement("canvas"), { width: SIDE, height: SIDE }),
    gl = canvas.getContext("webgl2", { antialias: false, depth: false });
  if (!gl) return false;
  const names = gl.getExtension("WEBGL_debug_renderer_info"),
    name = gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  const hidden = name === HIDDEN && !/Mac|iPhone|iPad/.test(navigator.userAgent);
  const found = hidden ? timeOf(gl) > CARD_TIME : SOFTWARE.test(name ?? "");
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return found;
}

/** Return the milliseconds of many reads of a texture, less what a call takes. @param {WebGL2RenderingContext} gl */
function timeOf(gl) {
  const program = gl.createProgram();
  for (const [kind, text] of /** @type {const} */ ([
    [gl.VERTEX_SHADER, CORNERS],
    [gl.FRAGMENT_SHADER, READING],
  ])) {
    const shader = /** @type {WebGLShader} */ (gl.createShader(kind));
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  gl.useProgram(program);
  gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
  const dots = Uint8Array.from({ length: 4 * 256 * 256 }, (_, k) => 37 * k);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 256, 256, 0, gl.RGBA, gl.UNSIGNED_BYTE, dots);
  const where = gl.getUniformLocation(program, "reads"),
    pixel = new Uint8Array(4);
  const time = (/** @type {number} */ reads) => {
    const begun = performance.now();
    gl.uniform1i(where, reads);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    return performance.now() - begun;
  };
  // A busy machine, or a driver that compiles, delays some of the calls.
  const tries = [1, 2, 3].map(() => [time(1), time(READS)]);
  const [call, whole] = [0, 1].map((k) => Math.min(...tries.map((each) => each[k])));
  return whole - call;
}
