import assert from "node:assert/strict";
import { test } from "node:test";

import { History } from "../../../fractals/explorer/client/history.js";
import { effect } from "../../../fractals/explorer/client/lib/signals-core.js";
import { heard, kept, observe, unkept } from "../../../fractals/explorer/client/state.js";

test("an effect that reads observed fields runs when they change, and only then", () => {
  const object = observe({ one: 1, two: 2 }, "one");
  const seen = [];
  effect(() => {
    seen.push(object.one + object.two);
  });
  object.two = 5;
  object.one = 1;
  object.one = 3;
  assert.deepEqual(seen, [3, 8]);
  assert.deepEqual({ ...object }, { one: 3, two: 5 });
});

test("values without a browser's storage are kept in memory", () => {
  const seen = [];
  effect(() => {
    seen.push(kept.get("favorites", "none"));
  });
  kept.set("favorites", ["jade"]);
  assert.deepEqual(seen, ["none", ["jade"]]);
});

test("what the user keeps is told to be lost where there is no storage, and what the page keeps is not", () => {
  const before = unkept.count;
  kept.set("folds", {});
  assert.equal(unkept.count, before);
  kept.keep("snapshots", ["A"]);
  kept.keep("snapshots", ["A", "B"]);
  assert.equal(unkept.count, before + 2);
  assert.deepEqual(kept.get("snapshots", []), ["A", "B"]);
});

test("what another tab keeps is not lost when this one keeps something", () => {
  const before = globalThis.localStorage,
    store = new Map();
  const fake = {
    getItem: (key) => store.get(key) ?? null,
    setItem: (key, text) => store.set(key, text),
  };
  Object.defineProperty(globalThis, "localStorage", { value: fake, configurable: true });
  try {
    kept.set("palettes", ["one"]);
    store.set("fractals.palettes", JSON.stringify(["one", "two"])); // by another tab
    heard({ key: "fractals.palettes" });
    kept.set("palettes", [...kept.get("palettes", []), "three"]);
    assert.deepEqual(JSON.parse(store.get("fractals.palettes")), ["one", "two", "three"]);
    store.clear();
    heard({ key: null }); // all of it was removed
    assert.equal(kept.get("palettes", "none"), "none");
  } finally {
    Object.defineProperty(globalThis, "localStorage", { value: before, configurable: true });
  }
});

test("values of a browser's storage are those that another tab has kept since", () => {
  const there = new Map();
  let full = false;
  const storage = {
    getItem: (/** @type {string} */ key) => there.get(key) ?? null,
    setItem(/** @type {string} */ key, /** @type {string} */ value) {
      if (full) throw new Error("full");
      there.set(key, value);
    },
  };
  Object.defineProperty(globalThis, "localStorage", { value: storage, configurable: true });
  try {
    assert.equal(kept.set("shelf", [1]), true);
    there.set("fractals.shelf", "[1,2]");
    assert.deepEqual(kept.get("shelf", []), [1]);
    assert.deepEqual(kept.newest("shelf", []), [1, 2]);
    assert.deepEqual(kept.get("shelf", []), [1, 2]); // panels show it, too
    full = true;
    assert.equal(kept.set("shelf", [3]), false);
  } finally {
    Reflect.deleteProperty(globalThis, "localStorage");
  }
});

/** A history of the numbers that a counter had. */
function counter() {
  const history = new History();
  let now = 0;
  return {
    history,
    do: (step) => (history.note(step, () => now), (now += 1)),
    undo: () => (now = history.undo(() => now) ?? now),
    redo: () => (now = history.redo(() => now) ?? now),
  };
}

test("random edits, undos and redos are those of a list of states", () => {
  let seed = 7;
  const random = (count) => (seed = (seed * 48271) % 2147483647) % count;
  for (let round = 0; round < 50; round++) {
    const { history, ...made } = counter();
    let states = [0],
      at = 0;
    for (let k = 0; k < 60; k++) {
      const kind = ["do", "undo", "redo"][random(3)];
      const now = made[kind]("");
      if (kind === "do") ((states = [...states.slice(0, at + 1), now]), (at += 1));
      else at = Math.min(states.length - 1, Math.max(0, at + (kind === "undo" ? -1 : 1)));
      assert.equal(now, states[at]);
      assert.deepEqual([history.canUndo, history.canRedo], [at > 0, at < states.length - 1]);
    }
  }
});

test("changes of the same name are one step, and only 200 steps are kept", () => {
  const { history, ...made } = counter();
  made.do("wheel");
  made.do("wheel");
  made.do("pan");
  assert.deepEqual(history.back, [0, 2]);
  for (let k = 0; k < 250; k++) made.do("");
  assert.equal(history.back.length, 200);
});

test("turns of a wheel are one step until the picture was seen for a while", (context) => {
  let clock = 0;
  context.mock.method(performance, "now", () => clock);
  const { history, ...made } = counter();
  const turn = (milliseconds) => ((clock += milliseconds), made.do("wheel"), history.back.length);
  assert.deepEqual([turn(5000), turn(5000), turn(5000)], [1, 1, 1]); // of a machine that draws slowly
  clock += 5000;
  history.seen();
  assert.equal(turn(600), 1);
  history.seen();
  clock += 600;
  history.seen(); // finer
  assert.equal(turn(200), 2);
});

test("states that were never placed are forgotten", () => {
  const { history, ...made } = counter();
  for (let k = 0; k < 4; k++) made.do("");
  history.clean((state) => state % 2 === 1);
  assert.deepEqual(history.back, [0, 2]);
});

test("a named gesture is one step however long it takes, and a jump is returned to", () => {
  const history = new History();
  let entry = 0,
    name = "a";
  const now = () => ({ entry, name });
  const note = (step, next) => (history.note(step, now), (name = next));
  note("gesture 1", "b");
  history.note("gesture 1", now);
  assert.equal(history.back.length, 1);
  note("", "c");
  entry = 1; // a jump from b to c
  note("", "d");
  const back = history.turnTo(0, now);
  assert.deepEqual(back, { entry: 0, name: "b" });
  ({ entry, name } = back);
  assert.deepEqual(history.turnTo(1, now), { entry: 1, name: "c" });
  assert.equal(history.turnTo(9, now), undefined);
});
