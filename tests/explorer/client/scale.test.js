import assert from "node:assert/strict";
import { test } from "node:test";

import { scaleWords } from "../../../fractals/explorer/client/panels/scale.js";

test("the whole set is named only where a picture shows all of it", () => {
  const words = (/** @type {number} */ zoom) => scaleWords(Math.log2(zoom));
  assert.equal(words(1), "the whole set");
  assert.equal(words(0.8), "the whole set"); // beside a panel it is smaller
  assert.equal(words(1.2), "the whole set");
  assert.equal(words(1.68), words(4));
  assert.notEqual(words(1.68), "the whole set");
  assert.notEqual(words(0.1), "the whole set");
});
