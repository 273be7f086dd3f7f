import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { Ticker } from "../../../fractals/explorer/client/ticker.js";

const frames = /** @type {Map<number, (time: number) => void>} */ (new Map());
let ids = 0;
const page = Object.assign(new EventTarget(), { hidden: false });
Object.assign(globalThis, {
  document: page,
  requestAnimationFrame: (/** @type {(time: number) => void} */ each) => (
    frames.set((ids += 1), each),
    ids
  ),
  cancelAnimationFrame: (/** @type {number} */ id) => frames.delete(id),
});
/** The screen shows a frame. */
function show(/** @type {number} */ time) {
  const due = [...frames.values()];
  frames.clear();
  for (const each of due) each(time);
}
beforeEach(() => {
  frames.clear();
  page.hidden = false;
});

test("one frame is drawn for all that wakes it, and none follows if none is wanted", () => {
  const drawn = [],
    ticker = new Ticker(
      (time) => (drawn.push(time), drawn.length < 3),
      new AbortController().signal,
    );
  ticker.wake();
  ticker.wake();
  for (const time of [16, 32, 48, 64]) show(time);
  assert.deepEqual(drawn, [16, 32, 48]);
});

test("an animation is told the seconds, at most a tenth after a rest, until it ends", () => {
  const told = [],
    ticker = new Ticker(() => false, new AbortController().signal);
  const stop = ticker.animate((seconds) => told.push(seconds));
  for (const time of [5000, 5016, 9000]) show(time);
  stop();
  show(9016);
  show(9032);
  assert.deepEqual(told, [0.1, 0.016, 0.1]);
});

test("a page that is not seen draws none, and goes on when it is seen", () => {
  let drawn = 0;
  const ticker = new Ticker(() => ((drawn += 1), false), new AbortController().signal);
  ticker.wake();
  page.hidden = true;
  show(16);
  ticker.wake();
  assert.equal(frames.size, 0);
  page.hidden = false;
  page.dispatchEvent(new Event("visibilitychange"));
  show(32);
  assert.equal(drawn, 1);
});

test("a view that has ended draws no more", () => {
  const ended = new AbortController(),
    ticker = new Ticker(() => assert.fail(), ended.signal);
  ticker.wake();
  ended.abort();
  ticker.wake();
  show(16);
  assert.equal(frames.size, 0);
});
