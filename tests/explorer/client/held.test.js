/** What is held by a pointer ends, also where it is gone; and a view that is closed gives its memory back. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { beforePanels, makePage } from "./page.js";

beforePanels();
const CLIENT = "../../../fractals/explorer/client";
const { whileHeld } = await import(`${CLIENT}/ui.js`),
  { attachGestures } = await import(`${CLIENT}/gestures.js`),
  { Stage } = await import(`${CLIENT}/stage.js`);
const document = makePage();

/** @returns {any} an event of a pointer */
const pointer = (/** @type {string} */ type, pointerId = 1, keys = {}) =>
  Object.assign(new Event(type), { pointerId, clientX: 0, clientY: 0, ...keys });

test("a drag ends with its own pointer, where the control has left the page, too", () => {
  const target = Object.assign(new EventTarget(), { setPointerCapture() {} }),
    told = /** @type {string[]} */ ([]);
  const hold = () =>
    whileHeld(
      { currentTarget: target, pointerId: 1 },
      () => told.push("moved"),
      () => told.push("ended"),
    );
  hold();
  target.dispatchEvent(pointer("pointermove"));
  document.dispatchEvent(pointer("lostpointercapture", 2)); // another finger
  target.dispatchEvent(pointer("pointermove"));
  document.dispatchEvent(pointer("lostpointercapture")); // browsers tell the document of a control that is gone
  document.dispatchEvent(pointer("lostpointercapture"));
  target.dispatchEvent(pointer("pointermove"));
  assert.deepEqual(told, ["moved", "moved", "ended"]);
});

test("a box that another gesture takes the place of is drawn no more", () => {
  const boxes = () => document.body.all.length;
  /** @type {any} */ (globalThis).devicePixelRatio = 1;
  for (const other of ["contextmenu", "pointerdown"]) {
    const explorer = Object.assign(new EventTarget(), { move() {}, rotation: 0, size: [100, 75] });
    const canvas = /** @type {any} */ (
      Object.assign(new EventTarget(), {
        setPointerCapture() {},
        getBoundingClientRect: () => ({ left: 0, top: 0, width: 100, height: 75 }),
        after: (/** @type {any} */ node) => document.body.appendChild(node),
        ...{ width: 100, height: 75, clientWidth: 100, offsetLeft: 0, offsetTop: 0 },
      })
    );
    attachGestures(/** @type {any} */ (explorer), canvas);
    const mouse = { button: 0, shiftKey: true, pointerType: "mouse" };
    canvas.dispatchEvent(pointer("pointerdown", 1, mouse));
    assert.equal(boxes(), 1);
    canvas.dispatchEvent(pointer(other, 2, { button: 0, pointerType: "touch" }));
    assert.equal(boxes(), 0, other);
    for (const id of [1, 2])
      canvas.dispatchEvent(pointer("pointerup", id, { pointerType: "touch" }));
  }
});

test("a view that has ended gives its context of WebGL back", () => {
  let lost = 0;
  const gl = new Proxy(/** @type {any} */ ({}), {
    get: (_, name) =>
      name === "getExtension"
        ? (/** @type {string} */ wanted) =>
            wanted === "WEBGL_lose_context" && { loseContext: () => (lost += 1) }
        : name === "getProgramParameter"
          ? () => 0
          : name === "isContextLost"
            ? () => true // programs of this one are not linked
            : () => ({}),
  });
  const canvas = Object.assign(new EventTarget(), { getContext: () => gl, width: 1, height: 1 });
  const stage = new Stage(/** @type {any} */ (canvas), () => {}, { software: true });
  assert.ok(stage.renderer.values);
  stage.end();
  assert.equal(lost, 1);
  new Stage(/** @type {any} */ (canvas), () => {}, { plain: true }).end();
  assert.equal(lost, 1);
});
