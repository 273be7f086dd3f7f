/** Decodes messages beside the page: 7 ms a tile would hold up its frames. */
import { HEADER, inflated, raw } from "./decode.js";

/** @typedef {import("./decode.js").Message} Message */

let order = Promise.resolve(); // one message after the other: images are made of the same memory
let rgba = new Uint32Array(0); // what an image is made of: new memory for each takes longer than its pixels (measured)

onmessage = ({ data }) => {
  order = order.then(() => answer(data));
};

/** @param {{id: number, message: Message, buffer: ArrayBuffer, image: boolean}} asked `image`: whether an image is made of pixels */
async function answer({ id, message, buffer, image }) {
  const post =
    /** @type {(message: {id: number, data?: object, error?: string}, taken?: Transferable[]) => void} */ (
      postMessage
    ); // a worker's
  try {
    const data =
      (image && (await imageOf(message, buffer))) ||
      (message.format ? await inflated(message, buffer) : raw(message, buffer));
    post({ id, data }, ["buffer" in data ? data.buffer : data]);
  } catch (error) {
    post({ id, error: String(error) });
  }
}

/** Return an image of a message's sRGB pixels; null: this browser makes none in a worker.
 * @param {Message} message @param {ArrayBuffer} buffer */
async function imageOf({ w, h }, buffer) {
  try {
    if (rgba.length !== w * h) rgba = new Uint32Array(w * h);
    fill(rgba, buffer);
    // Not with `premultiplyAlpha: "none"`: a page would convert it each time that it draws it.
    return await createImageBitmap(new ImageData(new Uint8ClampedArray(rgba.buffer), w, h));
  } catch {
    return null;
  }
}

/** Fill words with colors and 255. @param {Uint32Array} found @param {ArrayBuffer} buffer a message of sRGB pixels */
function fill(found, buffer) {
  const bytes = new Uint8Array(buffer, HEADER),
    words = new Uint32Array(buffer, HEADER, 3 * (found.length >> 2)); // of four pixels: half the time of bytes
  let to = 0;
  for (let from = 0; from < words.length; from += 3) {
    const a = words[from],
      b = words[from + 1],
      c = words[from + 2];
    found[to++] = 0xff000000 | a;
    found[to++] = 0xff000000 | (b << 8) | (a >>> 24);
    found[to++] = 0xff000000 | (c << 16) | (b >>> 16);
    found[to++] = 0xff000000 | (c >>> 8);
  }
  for (let from = 3 * to; to < found.length; from += 3)
    found[to++] = 0xff000000 | (bytes[from + 2] << 16) | (bytes[from + 1] << 8) | bytes[from];
}
