import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import { inflated, parse, PIXELS, raw } from "../../../fractals/explorer/client/decode.js";

const HEADER = 32;

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
    const into = new Uint32Array(w * h);
    for (const found of [
      raw(parse(buffer), buffer),
      raw(parse(buffer), buffer, into),
      await inflated(parse(packed), packed),
      await inflated(parse(packed), packed, into),
    ])
      assert.deepEqual([...found], expected.flat());
    assert.deepEqual([...new Uint8Array(into.buffer)], expected.flat());
  });
}
