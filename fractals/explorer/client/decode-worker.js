/** Decodes messages beside the page: 7 ms a tile would hold up its frames. */
import { inflated, raw } from "./decode.js";

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
    const data = image ? await imageOf(message, buffer) : await decoded(message, buffer);
    post({ id, data }, ["buffer" in data ? data.buffer : data]);
  } catch (error) {
    post({ id, error: String(error) });
  }
}

/** @param {Message} message @param {ArrayBuffer} buffer @param {Uint32Array} [into] */
function decoded(message, buffer, into) {
  return message.format ? inflated(message, buffer, into) : raw(message, buffer, into);
}

/** Return an image of sRGB pixels; their bytes, where this browser makes none in a worker.
 * @param {Message} message @param {ArrayBuffer} buffer */
async function imageOf(message, buffer) {
  const { w, h } = message;
  try {
    if (rgba.length !== w * h) rgba = new Uint32Array(w * h);
    await decoded(message, buffer, rgba);
    // Not with `premultiplyAlpha: "none"`: a page would convert it each time that it draws it.
    return await createImageBitmap(new ImageData(new Uint8ClampedArray(rgba.buffer), w, h));
  } catch {
    return decoded(message, buffer);
  }
}
