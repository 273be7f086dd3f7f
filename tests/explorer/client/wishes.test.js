import assert from "node:assert/strict";
import { test } from "node:test";

import { Queue } from "../../../fractals/explorer/client/queue.js";
import {
  changedScene,
  keysOf,
  placeOf,
  sceneAt,
  wholeOf,
} from "../../../fractals/explorer/client/wishes.js";

const NAMED = { title: "Arena", author: "A", rights: "R", note: "N" };
const UNNAMED = { title: "", author: "", rights: "", note: "" };
const PLACED = /** @type {any} */ ({ center: ["0", "1"], width: "2", zoom: "1.5", rotation: 30 });
const SCENE = /** @type {any} */ ({ ...NAMED, view: { zoom: "1.5", mirror: true, rotation: 30 } });

test("the whole of a formula keeps how its plane lies, and a solid what its camera is", () => {
  assert.deepEqual(wholeOf(SCENE, PLACED).view, { mirror: true });
  const camera = { position: [0, 0, 1], target: [0, 0, 0], field: 50 };
  const solid = wholeOf({ ...SCENE, camera }, { ...PLACED, camera });
  assert.deepEqual(solid.camera, { field: 50 });
});

test("parts of a place are changed one after the other while none is shown yet", () => {
  const queue = new Queue(() => {});
  const first = placeOf(queue, PLACED, { zoom: "100" });
  assert.deepEqual(first, { center: ["0", "1"], zoom: "100", rotation: 30 });
  queue.open({ open: { scene: SCENE }, place: first });
  const next = placeOf(queue, PLACED, ({ rotation }) => ({ rotation: Number(rotation) + 5 }));
  assert.deepEqual(next, { center: ["0", "1"], zoom: "100", rotation: 35 });
  assert.deepEqual(placeOf(queue, PLACED, { width: "3" }).zoom, undefined);
  assert.deepEqual(sceneAt(SCENE, next).view, { ...next, mirror: true });
});

test("other keys end the words of a scene, and those that are asked for stay", () => {
  const queue = new Queue(() => {});
  queue.open({ open: {}, keys: /** @type {any} */ ({ display: { gamma: 2 } }) });
  const keys = keysOf(queue, /** @type {any} */ ({ formula: "tricorn" }));
  assert.deepEqual(keys, { display: { gamma: 2 }, formula: "tricorn" });
  assert.deepEqual(changedScene(SCENE, PLACED, keys), {
    ...UNNAMED,
    ...keys,
    view: { center: ["0", "1"], width: "2", rotation: 30, mirror: true },
  });
  assert.deepEqual(changedScene(SCENE, { ...PLACED, camera: {} }, keys).view, {});
});
