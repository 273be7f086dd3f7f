import assert from "node:assert/strict";
import { test } from "node:test";

import { doing, soonWords, zoomOf } from "../../../fractals/explorer/client/panels/status.js";

test("the seconds until a picture is sharp are told in one number, and not below a second", () => {
  assert.equal(soonWords(0.4), "");
  assert.equal(soonWords(1), "1 s");
  assert.equal(soonWords(11.2), "12 s");
  assert.equal(soonWords(59.9), "60 s");
  assert.equal(soonWords(61), "2 min");
  assert.equal(soonWords(3599), "60 min");
  assert.equal(soonWords(3601), "2 h");
  assert.equal(soonWords(NaN), "");
});

test("work is told once a picture is late, and a picture that is exact at once", () => {
  const drawing = doing({ connected: true, status: { what: "reference" } });
  assert.equal(drawing.text, "Computing the reference orbit");
  assert.ok(drawing.busy && drawing.wait > 0);
  const steps = doing({ connected: true, status: { what: "reference", done: 81920, of: 4194304 } });
  assert.equal(steps.text, "Computing the reference orbit: 81,920 of at most 4,194,304 steps");
  assert.equal(doing({ connected: true, status: { what: "exact", share: 0.5 } }).text, "Refining");
  const exact = doing({ connected: true, drawn: { pass: "exact", max_iterations: 2985 } });
  assert.deepEqual(exact, { text: "limit 2,985", busy: false, wait: 0 });
  const flame = { pass: "finer", said: "quality 12 of 40" };
  assert.equal(doing({ connected: true, drawn: flame }).text, "Refining · quality 12 of 40");
  const site = { pass: "exact", said: "", max_iterations: 1000 }; // it sends no values, and says nothing of points
  assert.equal(doing({ connected: true, drawn: site }).text, "limit 1,000");
  assert.equal(doing({ connected: true, drawn: { ...site, pass: "coarse" } }).text, "Drawing");
  assert.equal(doing({ connected: true, status: { t: "failed" } }).text, "Not drawn");
  assert.equal(doing({ connected: false, drawn: flame }).text, "Not connected");
});

test("a camera's picture has no zoom, which would begin anew with each change of the solid", () => {
  const placed = { zoom: "1", octaves: 0, camera: null };
  assert.deepEqual(zoomOf(placed), ["1", "the whole set"]);
  assert.deepEqual(zoomOf(/** @type {any} */ ({ ...placed, camera: { field: 60 } })), []);
  assert.deepEqual(zoomOf(null), []);
});
