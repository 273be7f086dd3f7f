import assert from "node:assert/strict";
import { test } from "node:test";

import {
  apply,
  compose,
  IDENTITY,
  inverse,
  mapOf,
} from "../../../fractals/explorer/client/frames.js";
import { History } from "../../../fractals/explorer/client/history.js";
import { Queue } from "../../../fractals/explorer/client/queue.js";

/** @typedef {import("../../../fractals/explorer/client/frames.js").Move} Move */

const MOVES = /** @type {Move[]} */ ([
  { at: [800, 600], by: [160, 0], scale: 0, turn: 0 },
  { at: [800, 600], by: [0, -160], scale: 0, turn: 0 },
  { at: [800, 600], by: [0, 0], scale: 16, turn: 0 },
  { at: [160, 320], by: [0, 0], scale: -16, turn: 0 },
  { at: [800, 600], by: [32, 16], scale: 0, turn: 900 },
]);
const CLOSE = 2; // pixels: merging rounds to a sixteenth of one, and later moves magnify that

/** A model with the Queue and History of the explorer, and a server that places frames when it is told to. */
class Model {
  frames = new Map([[0, IDENTITY]]); // where they lie: maps from the pixels of the first one
  newest = 0;
  sent = 0;
  drawn = 0;
  truth = IDENTITY; // where the user is
  places = new Map(); // of states
  history = new History();
  queue = new Queue(({ state, move }) => this.fill(state, this.newest, move));

  fill(/** @type {any} */ state, /** @type {number} */ frame, /** @type {any} */ move) {
    Object.assign(state, { frame, scene: {}, origin: 0 }, move && { move });
  }
  now() {
    const last = this.queue.asked.at(-1);
    if (last?.state) return last.state;
    const state = /** @type {any} */ ({ frame: 0, scene: null, origin: 0, entry: 0 });
    this.places.set(state, this.truth);
    this.queue.note(state);
    return state;
  }
  move(/** @type {Move} */ move, step = "") {
    this.history.note(step, () => this.now());
    this.queue.move(move, "settled");
    this.truth = compose(this.truth, mapOf(move));
  }
  turn(/** @type {"undo"|"redo"} */ way) {
    const state = this.history[way](() => this.now());
    if (!state) return;
    this.queue.show(state);
    this.truth = this.places.get(state);
  }
  send() {
    const { entries, flight } = this.queue;
    if (flight || !entries.length) return;
    const entry = /** @type {Table} */ (entries.shift());
    if (entry.state) assert.ok(entry.state.scene, "a state that is sent is known");
    const base = entry.state ? entry.state.frame : this.newest;
    this.queue.flight = { ...entry, id: ++this.sent, base, moved: (entry.state ?? entry).move };
  }
  answer() {
    const { flight } = this.queue;
    if (!flight) return;
    this.queue.flight = null;
    const map = flight.moved ? mapOf(flight.moved) : IDENTITY;
    this.frames.set(flight.id, compose(this.frames.get(flight.base) ?? IDENTITY, map));
    this.newest = flight.id;
    for (const { state, move } of flight.after ?? []) this.fill(state, flight.id, move);
  }
  /** The connection is lost, and there again. */
  lose() {
    const { entries, flight } = this.queue;
    if (flight) this.queue.entries = [flight, ...entries];
    this.queue.flight = null;
  }
  settle() {
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
    assert.ok(this.same(this.frames.get(this.newest) ?? IDENTITY, this.truth), "the view");
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
