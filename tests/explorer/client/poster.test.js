import assert from "node:assert/strict";
import { test } from "node:test";
import { inflateSync } from "node:zlib";

import {
  layoutOf,
  packed,
  PAPERS,
  pixelsOf,
  scaled,
  sidesOf,
  signedAt,
  USUAL,
  viewedAt,
} from "../../../fractals/explorer/client/poster.js";

const PLACES = ["left", "middle", "right", "on_left", "on_right"];
const SHOWN = [1600, 1000];
const near = (/** @type {number} */ one, /** @type {number} */ other, within = 1e-9) =>
  assert.ok(Math.abs(one - other) < within, `${one} is not ${other}`);

test("paper lies across or upright, whatever its size", () => {
  for (const [paper, sides] of PAPERS) {
    assert.deepEqual(sidesOf({ ...USUAL, paper, upright: true }), sides);
    assert.deepEqual(sidesOf({ ...USUAL, paper, upright: false }), [...sides].reverse());
  }
  assert.deepEqual(sidesOf({ ...USUAL, paper: "own", own: [500, 200], upright: true }), [200, 500]);
});

test("without margins the picture goes beyond the cut, and what is cut to is the view", () => {
  for (const bleed of [0, 3, 5])
    for (const fit of /** @type {const} */ (["fill", "whole"])) {
      const poster = { ...USUAL, margin: 0, foot: 0, bleed, fit },
        found = layoutOf(poster, SHOWN);
      assert.ok(found);
      assert.deepEqual(found.picture, [0, 0, 420 + 2 * bleed, 297 + 2 * bleed]);
      assert.deepEqual(found.pixels.sheet, found.pixels.picture.slice(2));
      const wide = 420 / 297 / 1.6, // below 1: the paper is less wide than the view
        trimmed = fit === "fill" ? wide : 1;
      near(found.span, (trimmed * (420 + 2 * bleed)) / 420);
      near(found.lost, fit === "fill" ? 1 - wide : 0);
    }
});

test("within margins the picture keeps its shape, and the file's pixels are those of the paper", () => {
  const found = layoutOf({ ...USUAL, margin: 20, foot: 10, bleed: 3 }, SHOWN);
  assert.ok(found);
  assert.deepEqual(found.picture, [23, 23, 380, 247]);
  assert.deepEqual(found.pixels.sheet, [pixelsOf(426, 300), pixelsOf(303, 300)]);
  const [left, top, across, down] = found.pixels.picture;
  assert.ok(left + across <= found.pixels.sheet[0] && top + down <= found.pixels.sheet[1]);
  near(across / down, 380 / 247, 1e-3);
});

test("a camera keeps its field, and what it loses at the sides is told", () => {
  const found = layoutOf({ ...USUAL, paper: "30 × 30 cm" }, SHOWN, false);
  assert.equal(found?.span, 1);
  near(found?.lost ?? 0, 1 - 260 / 252 / 1.6);
  assert.equal(layoutOf({ ...USUAL, fit: "whole" }, SHOWN, false)?.span, 1);
});

test("margins that leave no room are refused", () => {
  assert.equal(layoutOf({ ...USUAL, paper: "A5", margin: 80 }, SHOWN), null);
  assert.equal(layoutOf({ ...USUAL, paper: "A5", margin: 70, foot: 60 }, SHOWN), null);
});

test("a signature lies on the paper, below the picture or on it, at each place", () => {
  for (const margin of [0, 20])
    for (const place of PLACES) {
      if (!margin && !place.startsWith("on_")) continue; // there is no margin to sign
      const poster = { ...USUAL, margin, foot: 0, place },
        its = layoutOf(poster, SHOWN);
      assert.ok(its);
      const [x, y] = signedAt(poster, its, [60, 10]),
        [left, top, across, down] = its.picture;
      assert.ok(
        x >= 3 && y >= 3 && x + 60 <= its.sheet[0] - 3 && y + 10 <= its.sheet[1] - 3,
        place,
      );
      if (place.startsWith("on_")) assert.ok(y > top && y + 10 < top + down && x > left, place);
      else assert.ok(y >= top + down && x >= left && x + 60 <= left + across + 1e-9, place);
    }
});

test("without a margin a signature that belongs below it lies on the picture", () => {
  const poster = { ...USUAL, margin: 0, foot: 0, place: "middle" },
    its = layoutOf(poster, SHOWN);
  assert.ok(its);
  const [, y] = signedAt(poster, its, [60, 10]);
  assert.ok(y + 10 <= its.sheet[1] - poster.bleed);
});

test("widths of any size are scaled in all their digits", () => {
  for (const [text, factor] of /** @type {[string, number][]} */ ([
    ["4.6", 1.01],
    ["0.0065", 0.5],
    ["2.2981e-30", 2],
    ["0.00000000000000000000000000000000123456789", 3],
    ["12", 1.5],
  ]))
    near(Number(scaled(text, factor)) / (Number(text) * factor), 1, 1e-13);
  assert.equal(scaled("1.5e-4000", 2), "3.00000000000000e-4000");
});

test("the middle of the picture is the middle of the view, and its edges are the view's", () => {
  const its = layoutOf({ ...USUAL, margin: 0, foot: 0, bleed: 0, fit: "whole" }, SHOWN);
  assert.ok(its);
  assert.deepEqual(viewedAt(its, SHOWN, [0.5, 0.5]), [0.5, 0.5]);
  near(viewedAt(its, SHOWN, [0, 0])[0], 0);
  assert.ok(viewedAt(its, SHOWN, [0, 0])[1] < 0); // more is seen above
});

test("opacities are packed as the server reads them", async () => {
  const bytes = Uint8Array.from({ length: 5000 }, (_, k) => k % 7);
  assert.deepEqual(new Uint8Array(inflateSync(Buffer.from(await packed(bytes), "base64"))), bytes);
});
