import assert from "node:assert/strict";
import { test } from "node:test";

import { calculated, summed } from "../../../fractals/explorer/client/arithmetic.js";
import { breathing, moved, placeOf, valueAt } from "../../../fractals/explorer/client/breathe.js";
import {
  another,
  isLocked,
  lockedOf,
  toggleLock,
} from "../../../fractals/explorer/client/panels/numbers.js";
import { numberField } from "../../../fractals/explorer/client/written.js";

test("sums have the value of school", () => {
  for (const [text, value] of /** @type {[string, number][]} */ ([
    ["0.7*2", 1.4],
    [" 1 + 2*3 ", 7],
    ["(1 + 2)/4", 0.75],
    ["-2**2", -4],
    ["2**-1", 0.5],
    ["2^3^2", 512],
    ["7 − 2 − 1", 4],
    ["12 ÷ 3 × 2", 8],
    ["0,5*3", 1.5],
    ["1e-3*2", 0.002],
    ["--3", 3],
  ]))
    assert.equal(calculated(text), value, text);
  assert.ok(Math.abs(Number(calculated("pi/2")) - Math.PI / 2) < 1e-15);
  for (const text of [
    "",
    "2*",
    "(1",
    "1)",
    "a",
    "1 2",
    "1/0",
    "2**",
    "alert(1)",
    "1;2",
    "constructor",
    `${"(".repeat(100_000)}1`,
    `1${"+1".repeat(100_000)}`,
  ])
    assert.equal(calculated(text), null, text);
});

test("a field of a number takes a sum, within its bounds", () => {
  const read = summed(numberField({ such: "3", least: 0, most: 10 }));
  assert.deepEqual(read("= 0.7*2"), { value: 1.4 });
  assert.deepEqual(read("=2*(1+1)"), { value: 4 });
  assert.match(read("=2*").wrong, /a sum/);
  assert.match(read("=20+1").wrong, /from 0 to 10/);
  assert.deepEqual(read("7"), { value: 7 });
});

const LINEAR = { least: -2, most: 2 },
  LOG = { least: 0.01, most: 100, log: true },
  WHOLE = { least: 1, most: 5, whole: true };

test("a place is where a value lies, and back", () => {
  for (const range of [LINEAR, LOG])
    for (const place of [0, 0.25, 0.5, 0.8, 1])
      assert.ok(Math.abs(placeOf(valueAt(place, range), range) - place) < 1e-4);
  assert.equal(valueAt(0.5, LINEAR), 0);
  assert.equal(valueAt(0.5, LOG), 1);
  assert.equal(valueAt(0.4, WHOLE), 3);
  assert.equal(valueAt(7, LINEAR), 2);
  assert.equal(placeOf(-3, LOG), 0);
});

test("a whole number moves by one at least, and stays in its range", () => {
  assert.equal(moved(3, 0.001, WHOLE), 4);
  assert.equal(moved(3, -0.001, WHOLE), 2);
  assert.equal(moved(5, 0.1, WHOLE), 5);
  assert.equal(moved(1, -0.5, LINEAR), -1);
});

/** A slider's listeners, and what they did. */
function slider(range, value) {
  const told = /** @type {any[]} */ ([]);
  let now = value,
    follow = (/** @type {any} */ _event) => {},
    end = () => {};
  const ways = breathing({
    range,
    now: () => now,
    set: (to) => told.push((now = to)),
    done: () => told.push("done"),
    reset: () => told.push("usual"),
    held: (_, move, ended) => ([follow, end] = [move, ended]),
  });
  return { told, ...ways, follow: (event) => follow(event), end: () => end() };
}
const event = (given) => ({ preventDefault() {}, button: 0, ...given });

test("with Shift a slider moves by a tenth of the way, from where it is", () => {
  const one = slider(LINEAR, 0.5);
  const currentTarget = { clientWidth: 200, focus() {} };
  one.slider.onPointerDown(event({ currentTarget, clientX: 10 })); // the browser's own
  one.follow({ clientX: 110, shiftKey: true });
  assert.deepEqual(one.told, []);
  one.slider.onPointerDown(event({ currentTarget, clientX: 10, shiftKey: true }));
  one.follow({ clientX: 110, shiftKey: true }); // half of the way
  assert.deepEqual(one.told, [0.7]);
  one.follow({ clientX: 160, shiftKey: false }); // Shift was released
  assert.deepEqual(one.told, [0.7, 1.7]);
  one.end();
  assert.equal(one.told.at(-1), "done");
});

test("arrow keys with Shift are fine, Delete is the usual value, and others are the browser's", () => {
  const one = slider(LINEAR, 0.5);
  one.slider.onKeyDown(event({ key: "ArrowRight", shiftKey: true }));
  one.slider.onKeyDown(event({ key: "ArrowRight", shiftKey: false }));
  one.slider.onKeyDown(event({ key: "Delete" }));
  assert.deepEqual(one.told, [0.504, "usual"]);
});

test("a wheel turns a number that has the focus only", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const one = slider(LOG, 1),
    field = {};
  Object.assign(globalThis, { document: { activeElement: null } });
  one.number.onWheel(event({ currentTarget: field, deltaY: -100 }));
  assert.deepEqual(one.told, []);
  document.activeElement = /** @type {any} */ (field);
  one.number.onWheel(event({ currentTarget: field, deltaY: -100 }));
  one.number.onWheel(event({ currentTarget: field, deltaY: -100 }));
  assert.equal(one.told.length, 2);
  assert.ok(one.told[1] > one.told[0] && one.told[0] > 1);
  context.mock.timers.tick(399);
  assert.equal(one.told.length, 2);
  context.mock.timers.tick(1);
  assert.equal(one.told.at(-1), "done");
  delete globalThis.document;
});

test("notches and keys are put once they rest, though each renders the slider anew", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const rest = { current: 0 },
    told = /** @type {any[]} */ ([]);
  const rendered = () =>
    breathing({
      range: LINEAR,
      now: () => 0,
      set: (to) => told.push(to),
      done: () => told.push("done"),
      held: () => {},
      rest,
    });
  for (let k = 0; k < 4; k++) {
    rendered().slider.onKeyDown(event({ key: "ArrowRight", shiftKey: true }));
    context.mock.timers.tick(300);
  }
  assert.ok(!told.includes("done"));
  context.mock.timers.tick(100);
  assert.deepEqual(told.slice(4), ["done"]);
});

test("a number whose pointer is gone is not dragged by the next move", () => {
  const page = new EventTarget();
  for (const name of ["addEventListener", "removeEventListener"])
    Object.assign(globalThis, { [name]: page[name].bind(page) });
  Object.assign(globalThis, { document: { activeElement: null } });
  const one = slider(LINEAR, 0.5),
    field = { blur() {} };
  const move = (/** @type {Table} */ given) =>
    page.dispatchEvent(Object.assign(new Event("pointermove"), { pointerId: 1, ...given }));
  const press = () =>
    one.number.onPointerDown(event({ currentTarget: field, clientX: 0, pointerType: "mouse" }));
  press();
  page.dispatchEvent(new Event("pointercancel"));
  move({ clientX: 50, buttons: 1 });
  press();
  move({ clientX: 50, buttons: 0 }); // its end was told to nobody
  move({ clientX: 60, buttons: 1 });
  one.follow({ clientX: 90 });
  assert.deepEqual(one.told, []);
  press();
  move({ clientX: 50, buttons: 1 });
  one.follow({ clientX: 80, shiftKey: false });
  assert.deepEqual(one.told, [0.9]);
  for (const name of ["addEventListener", "removeEventListener", "document"])
    delete globalThis[name];
});

test("locks belong to a formula's number, and dice stay near the value and in its range", () => {
  toggleLock("bulb", "power");
  assert.ok(isLocked("bulb", "power") && !isLocked("box", "power"));
  assert.deepEqual(lockedOf("bulb"), ["power"]);
  toggleLock("bulb", "power");
  assert.deepEqual(lockedOf("bulb"), []);
  toggleLock("z**2 + k*c", "k");
  assert.deepEqual(lockedOf("z**2 + k*c"), ["k"]);
  toggleLock("z**2 + k*c", "k");
  for (const chance of [0, 0.2, 0.5, 0.999]) {
    const made = another({ value: 1.5, ...LINEAR }, () => chance);
    assert.ok(made >= 0.7 - 1e-9 && made <= 2);
    const whole = another({ value: 5, ...WHOLE }, () => chance);
    assert.ok(Number.isInteger(whole) && whole >= 1 && whole < 5);
  }
});
