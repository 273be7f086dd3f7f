import assert from "node:assert/strict";
import { test } from "node:test";

import { movedText, scientific } from "../../../fractals/io/page/decimals.js";

test("a place is moved in all its digits", () => {
  assert.equal(movedText("-1.5", 0.25, 0, 4), "-1.2500");
  assert.equal(movedText("0.1", -0.5, -1, 3), "-0.150");
  assert.equal(movedText("7", 3, 1, 1), "13.0");
  const far = movedText("-0.123456789012345678901234567890", 1, -200, 70);
  assert.equal(far, `-0.${123456789012345678901234567890n * 10n ** 40n - 10n ** 70n / 2n ** 200n}`);
});

test("a small width has 17 digits and its order", () => {
  assert.deepEqual(scientific(1, 0), ["1.0000000000000000e0", 0]);
  assert.deepEqual(scientific(0.0065, 0), ["6.4999999999999997e-3", -3]);
  assert.equal(scientific(1, -1100)[1], -332);
  assert.equal(Number(scientific(0.75, -300)[0]), 0.75 * 2 ** -300);
});
