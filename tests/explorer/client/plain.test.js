/** The canvas of a page without WebGL2. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { PlainRenderer } from "../../../fractals/explorer/client/canvas2d.js";
import { canvasOfPixels } from "../../../fractals/explorer/client/picture.js";

/** A canvas that notes how its context was asked for. */
const newCanvas = () => {
  const asked = /** @type {any[]} */ ([]);
  const context = new Proxy({}, { get: () => () => {}, set: () => true });
  const getContext = (/** @type {string} */ _, /** @type {object} */ how) => (
    asked.push(how),
    context
  );
  return /** @type {any} */ ({ width: 4, height: 3, asked, getContext });
};

test("pixels that come and the canvas that they are drawn on have the same memory", () => {
  const canvas = newCanvas(),
    page = /** @type {any} */ (globalThis);
  new PlainRenderer(canvas);
  page.document = { createElement: newCanvas };
  page.ImageData = class {};
  try {
    const made = /** @type {any} */ (canvasOfPixels(new Uint8Array(48), 4, 3));
    for (const { asked } of [canvas, made])
      assert.deepEqual(
        asked.map((/** @type {any} */ how) => how.willReadFrequently),
        [true],
      );
  } finally {
    delete page.document;
    delete page.ImageData;
  }
});
