import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import { inflated, parse, PIXELS, raw } from "../../../fractals/explorer/client/decode.js";

const HEADER = 32;
let worker = /** @type {((event: object) => void)|null} */ (null);

/** Return a message of pixels, and what it holds. */
function message(/** @type {number} */ w, /** @type {number} */ h, packed = false) {
  const rgb = Uint8Array.from({ length: 3 * w * h }, (_, k) => (k * 151 + (k >> 3)) & 255);
  const rows = rgb.map((value, k) => (k < 3 * w ? value : value - rgb[k - 3 * w]));
  const payload = packed ? deflateSync(rows) : rgb,
    buffer = new ArrayBuffer(HEADER + payload.length);
  new Uint8Array(buffer, HEADER).set(payload);
  const view = new DataView(buffer);
  view.setUint8(0, PIXELS);
  view.setUint8(1, Number(packed));
  view.setUint16(12, w, true);
  view.setUint16(14, h, true);
  view.setUint8(16, 1);
  return { buffer, rgb };
}

for (const [w, h] of [
  [1, 1],
  [2, 1],
  [3, 1],
  [4, 1],
  [5, 3],
  [16, 9],
]) {
  test(`each of ${w} x ${h} pixels keeps its color, and is opaque`, async () => {
    const { buffer, rgb } = message(w, h),
      packed = message(w, h, true).buffer,
      expected = Array.from({ length: w * h }, (_, k) => [...rgb.slice(3 * k, 3 * k + 3), 255]);
    const browser = { createImageBitmap: async (/** @type {object} */ image) => image };
    for (const found of [
      raw(parse(buffer), buffer),
      await inflated(parse(packed), packed),
      (await answered(buffer, browser)).pixels,
      await answered(buffer, {}), // it makes no images
    ])
      assert.deepEqual([...found], expected.flat());
  });
}

/** Return what the worker makes of a message where an image is wanted.
 * @param {ArrayBuffer} buffer @param {object} browser what there is in it @returns {Promise<any>} */
async function answered(buffer, browser) {
  class ImageData {
    constructor(/** @type {Uint8ClampedArray} */ pixels) {
      this.pixels = pixels.slice();
    }
  }
  const there = /** @type {any} */ (globalThis);
  delete there.createImageBitmap;
  Object.assign(there, { onmessage: null, ImageData, ...browser });
  const made = new Promise((done) => (there.postMessage = done));
  worker ??= await import("../../../fractals/explorer/client/decode-worker.js").then(
    () => there.onmessage,
  );
  worker({ data: { id: 1, message: parse(buffer), buffer, image: true } });
  const { data, error } = await made;
  assert.equal(error, undefined);
  return data;
}
