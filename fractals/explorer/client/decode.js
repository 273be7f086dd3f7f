/**
 * Binary messages: header, and payload as numbers. See PROTOCOL.md.
 *
 * @typedef {{kind: number, format: number, layer: number, frame: number, x: number, y: number,
 *   w: number, h: number, step: number, paint: number, low: number, high: number,
 *   data?: Float32Array|Uint8Array|Uint16Array|ImageBitmap}} Message
 * @typedef {Message & {data: Float32Array}} Values
 * @typedef {Message & {data: Uint8Array}} Pixels sRGB, each followed by 255
 * @typedef {Message & {data: Uint16Array}} Rows of a lookup table
 */
export const VALUES = 1,
  PIXELS = 2,
  TABLE = 4,
  PREVIEW = 5;
export const HEADER = 32;

/** A sample without a value, and one that has not arrived: NaN is unreliable in shaders. */
export const NO_VALUE = -3e38,
  HOLE = 3e38;

/** Read the header. @param {ArrayBuffer} buffer @returns {Message} */
export function parse(buffer) {
  const view = new DataView(buffer);
  const short = (/** @type {number} */ at) => view.getUint16(at, true);
  return {
    kind: view.getUint8(0),
    format: view.getUint8(1),
    layer: short(2),
    frame: view.getUint32(4, true),
    x: short(8),
    y: short(10),
    w: short(12),
    h: short(14),
    step: view.getUint8(16),
    paint: short(18),
    low: view.getFloat32(20, true),
    high: view.getFloat32(24, true),
  };
}

/** Read an uncompressed payload. @param {Message} message @param {ArrayBuffer} buffer */
export function raw(message, buffer) {
  if (message.kind === VALUES) {
    const values = new Float32Array(buffer, HEADER);
    for (let k = 0; k < values.length; k++) if (values[k] !== values[k]) values[k] = NO_VALUE;
    return values;
  }
  if (message.kind === TABLE) return new Uint16Array(buffer, HEADER);
  return opaque(new Uint8Array(buffer, HEADER));
}

/** Read a compressed payload. @param {Message} message @param {ArrayBuffer} buffer */
export async function inflated(message, buffer) {
  const packed = new Blob([new Uint8Array(buffer, HEADER)]);
  const stream = packed.stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  if (message.kind === VALUES) return valuesOf(message, bytes);
  if (message.kind === TABLE) return new Uint16Array(bytes.buffer);
  const row = 3 * message.w;
  for (let k = row; k < bytes.length; k++) bytes[k] += bytes[k - row];
  return opaque(bytes);
}

/** Return RGB bytes with 255 after each three. @param {Uint8Array} data */
function opaque(data) {
  const found = new Uint32Array(data.length / 3);
  for (let from = 0, to = 0; from < data.length; from += 3)
    found[to++] = 0xff000000 | (data[from + 2] << 16) | (data[from + 1] << 8) | data[from];
  return new Uint8Array(found.buffer);
}

/** Undo the differences between rows, and the shuffling of bytes. */
function valuesOf(/** @type {Message} */ { w, h, low, high }, /** @type {Uint8Array} */ bytes) {
  const count = w * h,
    steps = new Uint16Array(count),
    values = new Float32Array(count);
  const unit = (high - low) / 65534;
  for (let k = 0; k < count; k++) {
    const change = bytes[k] | (bytes[count + k] << 8);
    steps[k] = k < w ? change : change + steps[k - w];
    values[k] = steps[k] === 65535 ? NO_VALUE : low + unit * steps[k];
  }
  return values;
}
