import assert from "node:assert/strict";
import { test } from "node:test";

import { made, SCENE } from "./shown.js";

const MOVE = { at: [800, 600], by: [160, 0], scale: 0, turn: 0 };

test("a change is made of what is wished for, and what was moved since lies there, too", () => {
  const { changes, queue } = made();
  changes.keys({ formula: "tricorn" }, "");
  queue.move(MOVE, "settled");
  changes.keys({ display: { hint: 1 } }, "");
  const [between, last, ...moves] = queue.entries; // undo returns to the one between
  assert.equal(between.after?.length, 1);
  assert.deepEqual(moves, [{ move: MOVE, stage: "settled" }]);
  const { scene } = /** @type {any} */ (last.open);
  assert.equal(scene.formula, "tricorn");
  assert.deepEqual(scene.display, { hint: 1 });
  assert.deepEqual(scene.view.center, SCENE.view.center);
  assert.equal(scene.title, ""); // it is another picture
  assert.ok(last.edits && last.of === 1 && !last.jump);
});

test("a scene is a jump and a step of undo, in place of all that leads to the view that is left", () => {
  const { changes, queue, undo, said } = made();
  queue.move(MOVE, "settled");
  const entry = changes.open({ scene: { formula: "heart" } });
  assert.deepEqual(queue.entries, [entry]);
  assert.ok(entry.jump);
  assert.equal(undo.history.back.length, 1);
  assert.deepEqual(said, ["opening"]);
  assert.ok(!changes.open({ link: "x" }, "", { jump: false }).jump);
});

test("a Julia set is that of the point of the newest frame", () => {
  const { changes, queue } = made();
  queue.move(MOVE, "settled");
  const { open } = changes.open({ julia: { at: [800, 600] } });
  assert.deepEqual(open, { julia: { frame: 1, at: [640, 600] } });
});

test("all of a formula is shown in the part that no panel covers", () => {
  const { changes, explorer, queue } = made();
  explorer.seen = { middle: [400, 600], share: 0.5 };
  changes.home();
  const [{ open }, { move }] = /** @type {any} */ (queue.entries);
  assert.deepEqual(open.scene.view, {});
  assert.deepEqual(move, { at: [800, 600], by: [-400, 0], scale: -64, turn: 0 });
  queue.entries = [];
  explorer.placed.camera = {};
  changes.home(); // a camera goes on where it is
  assert.equal(queue.entries.length, 1);
});

test("a place changes what is said of it", () => {
  const { changes, queue } = made();
  changes.place({ zoom: "700" });
  changes.place((asked) => ({ rotation: asked.zoom === "700" ? 30 : 0 }));
  const { view } = /** @type {any} */ (queue.entries[1].open).scene;
  assert.deepEqual(view, { center: SCENE.view.center, zoom: "700", rotation: 30 });
});

test("a formula is tried at the place, and left for all of it with a way back", () => {
  const { changes, explorer, queue, said } = made();
  changes.formula("tricorn");
  const { open, trial } = /** @type {any} */ (queue.entries[0]);
  assert.deepEqual(open.scene.view.center, SCENE.view.center);
  assert.equal(trial.formula, "tricorn");
  said.length = 0;
  changes.leave(trial, false);
  assert.deepEqual(queue.entries[0].open, { formula: "tricorn" });
  const [text, kind, [label, stay]] = said[1];
  assert.ok(text && label && kind === "info");
  stay();
  assert.deepEqual(queue.entries.at(-1)?.open, { scene: open.scene });

  queue.entries = [];
  explorer.placed.octaves = 0; // all of a formula is shown
  changes.formula("heart");
  assert.deepEqual(queue.entries[0].open, { formula: "heart" });
  assert.ok(!queue.entries[0].trial);
});

test("what opens leaves nothing to fit", () => {
  const { changes, fit } = made();
  fit.want(0);
  changes.open({ scene: {} });
  assert.ok(!fit.waits);
});
