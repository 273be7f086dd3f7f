import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { standIn } from "../../../fractals/explorer/client/panels/standin.js";

const SLOW_MS = 1000; // longer than a stand-in waits

/** @type {any} */ (globalThis).createImageBitmap = async (/** @type {any} */ { name }) => name;
const image = (/** @type {string} */ name) => /** @type {any} */ ({ naturalWidth: 256, name });

/** A model whose frame 1 is shown, and which opens a scene. */
function opened() {
  const explorer = Object.assign(new EventTarget(), { placed: { frame: 1 }, opening: true });
  return { explorer: /** @type {any} */ (explorer), ui: /** @type {any} */ ({ over: null }) };
}
const say = (/** @type {EventTarget} */ explorer, /** @type {string} */ name) =>
  explorer.dispatchEvent(new Event(name));
/** Wait until a stand-in is shown that is due. */
async function wait() {
  mock.timers.tick(SLOW_MS);
  for (let k = 0; k < 5; k++) await null;
}

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
});

test("the picture of the next scene takes the place of the one before", async () => {
  const { explorer, ui } = opened();
  standIn(explorer, ui, image("arena"), 1);
  await wait();
  assert.equal(ui.over.picture, "arena");
  say(explorer, "opening");
  assert.equal(ui.over, null);
  standIn(explorer, ui, image("barnacles"), 1);
  await wait();
  assert.equal(ui.over.picture, "barnacles");
});

test("of two scenes chosen at once, the second one's picture is shown", async () => {
  const { explorer, ui } = opened();
  standIn(explorer, ui, image("arena"), 1);
  standIn(explorer, ui, image("barnacles"), 1);
  await wait();
  assert.equal(ui.over.picture, "barnacles");
});

test("a scene without a picture ends the picture of the one before", async () => {
  const { explorer, ui } = opened();
  standIn(explorer, ui, image("arena"), 1);
  await wait();
  standIn(explorer, ui, null, 1);
  assert.equal(ui.over, null);
});

test("it stays while another frame is drawn, and ends once the scene is seen", async () => {
  const { explorer, ui } = opened();
  standIn(explorer, ui, image("arena"), 1);
  await wait();
  say(explorer, "drawn"); // of a frame before
  assert.equal(ui.over.picture, "arena");
  explorer.opening = false;
  say(explorer, "placed");
  assert.equal(ui.over.picture, "arena");
  say(explorer, "drawn");
  assert.equal(ui.over, null);
});

test("it leaves a picture alone that something else has laid there", async () => {
  const { explorer, ui } = opened();
  ui.over = { picture: "snapshot" };
  standIn(explorer, ui, image("arena"), 1);
  await wait();
  assert.equal(ui.over.picture, "snapshot");
  say(explorer, "moved");
  assert.equal(ui.over.picture, "snapshot");
});
