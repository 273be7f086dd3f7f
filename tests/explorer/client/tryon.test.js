import assert from "node:assert/strict";
import { test } from "node:test";

/** @type {any} */ (globalThis).IntersectionObserver = class {}; // of small pictures
const { pointed } = await import("../../../fractals/explorer/client/panels/pointing.js");
const { nineOf } = await import("../../../fractals/explorer/client/panels/numbers.js");

test("nine values go from the least to the most, and whole ones are there once", () => {
  const nine = nineOf({ value: 1, least: -1, most: 3 });
  assert.deepEqual(nine, [-1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3]);
  assert.deepEqual(nineOf({ value: 2, least: 1, most: 4, whole: true }), [1, 2, 3, 4]);
  assert.deepEqual(nineOf({ value: 8, least: 2, most: 16, whole: true }).slice(2, 5), [6, 8, 9]);
  assert.ok(nineOf({ value: 0.123456, least: -1, most: 3 }).includes(0.123456)); // of now
  assert.equal(nineOf({ value: 0, least: 0, most: 1 / 3 })[8], 0.3333);
});

test("a thing is shown once while a mouse points at it, and not under a mouse at rest or a finger", () => {
  const told = [];
  const on = pointed(
    "one",
    () => told.push("show"),
    () => told.push("hide"),
  );
  const move = (pointerType) => on.onPointerMove(/** @type {any} */ ({ pointerType }));
  on.onPointerEnter();
  assert.deepEqual(told, []);
  move("touch");
  assert.deepEqual(told, []);
  move("mouse");
  move("mouse");
  assert.deepEqual(told, ["show"]);
  on.onPointerLeave();
  on.onPointerEnter();
  move("mouse");
  assert.deepEqual(told, ["show", "hide", "show"]);
});

test("the focus of a keyboard shows a thing, and that of a mouse does not", () => {
  const told = [];
  const on = pointed(
    "two",
    () => told.push("show"),
    () => told.push("hide"),
  );
  const focus = (visible) =>
    on.onFocus({ currentTarget: { matches: (name) => name === ":focus-visible" && visible } });
  focus(false);
  focus(true);
  on.onBlur();
  assert.deepEqual(told, ["show", "hide"]);
});
