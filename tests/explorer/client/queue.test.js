import assert from "node:assert/strict";
import { test } from "node:test";

import { Flight } from "../../../fractals/explorer/client/flight.js";
import {
  apply,
  Chain,
  compose,
  IDENTITY,
  inverse,
  mapOf,
} from "../../../fractals/explorer/client/frames.js";
import { Queue } from "../../../fractals/explorer/client/queue.js";
import { Reconnect } from "../../../fractals/explorer/client/reconnect.js";
import { Undo } from "../../../fractals/explorer/client/undo.js";

/** @typedef {import("../../../fractals/explorer/client/frames.js").Move} Move */

const MOVES = /** @type {Move[]} */ ([
  { at: [800, 600], by: [160, 0], scale: 0, turn: 0 },
  { at: [800, 600], by: [0, -160], scale: 0, turn: 0 },
  { at: [800, 600], by: [0, 0], scale: 16, turn: 0 },
  { at: [160, 320], by: [0, 0], scale: -16, turn: 0 },
  { at: [800, 600], by: [32, 16], scale: 0, turn: 900 },
]);
const CLOSE = 2; // pixels: merging rounds to a sixteenth of one, and later moves magnify that
const SIZE = [100, 75];

/** What the explorer shows, with its queue, flight, undo and reconnection, and a server that answers when it is told to. */
class Model {
  frames = new Map([[0, IDENTITY]]); // where they lie: maps from the pixels of the first one
  sent = 0;
  truth = IDENTITY; // where the user is
  places = new Map(); // of states
  shown = /** @type {any} */ ({
    scene: { image: { size: SIZE }, at: IDENTITY },
    entry: 0,
    size: SIZE,
  });
  chain = new Chain();
  queue = new Queue((after) => this.undo.fill(after));
  undo = new Undo(this.shown, this.queue, this.chain, () => {});
  flight = new Flight(this.shown, this.queue, this.chain, this.undo);
  reconnect = new Reconnect(
    this.queue,
    {},
    () => {},
    () => false,
  );
  lost = false;
  time = 0;

  get history() {
    return this.undo.history;
  }
  constructor() {
    this.chain.start(0);
    this.shown.placed = { frame: 0 };
  }
  now() {
    const state = this.undo.now();
    if (!this.places.has(state)) this.places.set(state, this.truth);
    return state;
  }
  move(/** @type {Move} */ move, step = "") {
    const noted = this.undo.remember(step);
    if (noted && !this.places.has(noted)) this.places.set(noted, this.truth);
    this.queue.move(move, "settled");
    this.truth = compose(this.truth, mapOf(move));
  }
  turn(/** @type {"undo"|"redo"} */ way) {
    const there = this.truth,
      now = this.undo.now();
    if (!this.places.has(now)) this.places.set(now, there);
    const state = this.history[way](() => now);
    if (!state) return;
    this.queue.show(state);
    this.truth = this.places.get(state);
  }
  send() {
    const { queue } = this;
    if (this.lost || queue.flight || !queue.entries.length) return;
    assert.ok(queue.entries[0].state?.scene !== null, "a state that is sent is known");
    assert.ok(this.flight.next((this.time += 1000), false));
    this.sent += 1;
  }
  /** The server places the view under way. */
  answer() {
    const { asked } = this.queue.flight ?? {};
    if (!asked) return;
    const { t, frame, base = null } = asked,
      move =
        t === "view"
          ? /** @type {Move} */ ({ by: [0, 0], scale: 0, turn: 0, at: [0, 0], ...asked })
          : null;
    const map = move && mapOf(move);
    const scene = t === "open" ? asked.scene : undefined;
    // A scene of this model tells where it lies.
    this.frames.set(
      frame,
      map ? compose(/** @type {any} */ (this.frames.get(base ?? 0)), map) : scene?.at,
    );
    const landed = this.flight.landed(/** @type {any} */ ({ frame, base, map }));
    assert.ok(landed);
    this.shown.placed = { frame };
    if (scene) this.undo.origin++;
    this.shown.scene = { image: { size: SIZE }, at: this.frames.get(frame) };
    this.flight.tell(landed.flight, scene && this.shown.scene);
  }
  /** The connection is lost. */
  lose() {
    this.reconnect.lost();
    this.lost = true;
  }
  /** The connection is there again: a server that knows no frame. */
  find() {
    if (this.lost) this.reconnect.welcomed(this.shown.scene);
    this.lost = false;
  }
  settle() {
    this.find();
    for (let k = 0; this.queue.asked.length; k++) {
      assert.ok(k < 1000);
      this.send();
      this.answer();
    }
  }
  /** Whether two maps show the same: the corners of a canvas. */
  same(/** @type {number[]} */ one, /** @type {number[]} */ other) {
    const back = compose(inverse(one), other);
    return [0, 100].every((x) =>
      [0, 75].every((y) => {
        const [u, v] = apply(back, [x, y]);
        return Math.hypot(u - x, v - y) < CLOSE;
      }),
    );
  }
  check() {
    assert.ok(this.same(this.frames.get(this.chain.newest) ?? IDENTITY, this.truth), "the view");
    for (const state of [...this.history.back, ...this.history.forth]) {
      const at = compose(
        this.frames.get(state.frame) ?? IDENTITY,
        state.move ? mapOf(state.move) : IDENTITY,
      );
      assert.ok(state.scene, "a state is known");
      assert.ok(this.same(at, this.places.get(state)), "a state");
    }
  }
}

/** Return a function of random numbers below a bound, the same in each run. */
function random(/** @type {number} */ seed) {
  return (/** @type {number} */ below) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
}

test("moves of different kinds while a view is under way are one view", () => {
  const made = new Model();
  for (let k = 0; k < 30; k++) {
    made.move(MOVES[k % 2], ["left", "up"][k % 2]);
    made.send();
  }
  made.settle();
  assert.equal(made.sent, 2);
  made.check();
  assert.equal(made.history.back.length, 30);
  const back = [...made.history.back];
  for (let k = 29; k >= 0; k -= 7) {
    while (made.history.back.length > k) made.turn("undo");
    made.settle();
    assert.ok(made.same(made.truth, made.places.get(back[k])));
    made.check();
  }
});

test("undo and redo that follow each other at once are one view", () => {
  const made = new Model();
  for (let k = 0; k < 12; k++) {
    made.move(MOVES[k % 5]);
    made.settle();
  }
  const before = made.sent;
  for (let k = 0; k < 10; k++) {
    made.turn("undo");
    made.send();
  }
  for (let k = 0; k < 4; k++) made.turn("redo");
  made.settle();
  assert.equal(made.sent, before + 2);
  made.check();
});

test("a scene that is opened takes the place of moves that are not sent", () => {
  const made = new Model();
  made.move(MOVES[0]);
  made.move(MOVES[2]);
  const state = made.now();
  made.queue.open({ open: { gallery: "arena" } });
  assert.deepEqual(
    made.queue.entries.map(({ open }) => open?.gallery),
    ["arena"],
  );
  assert.ok(made.queue.opening);
  assert.ok(state.scene && state.frame === 0 && state.move.scale === 16);
});

test("any order of moves, undo, redo, answers and lost connections leads to where the user is", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const made = new Model(),
      next = random(seed);
    for (let k = 0; k < 60; k++) {
      const what = next(10);
      if (what < 4) made.move(MOVES[next(MOVES.length)], next(2) ? "" : `key ${next(3)}`);
      else if (what < 6) made.turn("undo");
      else if (what < 7) made.turn("redo");
      else if (what < 8) made.send();
      else if (what < 9) made.answer();
      else if (made.lost) made.find();
      else if (next(4) === 0) made.lose();
    }
    made.settle();
    made.check();
  }
});

test("a view that fails takes the states with it that lead through it", () => {
  const made = new Model();
  made.move(MOVES[0]);
  made.send();
  made.move(MOVES[1]);
  made.move(MOVES[2]);
  const [first, ...others] = made.history.back;
  assert.deepEqual(new Set(made.queue.fail()), new Set(others));
  assert.ok(first.scene);
  assert.deepEqual(made.queue.asked, []);
});

test("sizes that a window takes while it is dragged are one view, which leads where all of them do", () => {
  const queue = new Queue(() => {});
  const sizes = [100, 110, 132, 99].map((width) => [width, 75]),
    maps = sizes.slice(1).map((size, n) => {
      const k = size[0] / sizes[n][0];
      return [k, 0, 0, k, (size[0] - k * sizes[n][0]) / 2, (size[1] - k * sizes[n][1]) / 2];
    });
  queue.size(maps[0]);
  queue.flight = /** @type {any} */ ({ ...queue.entries.shift(), id: 1 }); // it is sent
  for (const map of maps.slice(1)) queue.size(map);
  assert.equal(queue.entries.length, 1);
  const whole = maps.slice(1).reduce(compose, IDENTITY);
  assert.deepEqual(queue.entries[0].size?.map, whole);
  queue.move(MOVES[0], "settled");
  queue.size(maps[0]);
  assert.equal(queue.entries.length, 3); // in their order
});
