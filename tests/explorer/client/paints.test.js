import assert from "node:assert/strict";
import { test } from "node:test";

import { Paints } from "../../../fractals/explorer/client/paints.js";

/** Colors of a page whose server answers when the test says so. */
function page() {
  const sent = [],
    stage = { renderer: { values: true }, adjust() {} };
  const explorer = { stage, placed: { values: true }, scene: { color: { density: 1 } }, drawn: {} };
  const paints = new Paints(explorer, (message) => Boolean(sent.push(message)));
  paints.start({ density: 1 });
  const accept = () => {
    const { seq, color } = sent.at(-1);
    paints.accepted({ seq, color, values: false });
  };
  return { sent, explorer, paints, accept };
}

test("changes that were live end with the gesture, whatever has become of the control", () => {
  const { sent, paints, accept } = page();
  paints.set({ density: 2 }, true);
  assert.deepEqual([paints.settled, sent.length], [false, 0]);
  paints.rest();
  paints.rest();
  assert.deepEqual(
    sent.map(({ color }) => color),
    [{ density: 2 }],
  );
  accept();
  assert.equal(paints.settled, true);
});

test("colors that are refused return to those before, which are sent once", () => {
  const { sent, explorer, paints, accept } = page();
  paints.set({ density: 2 }, false);
  assert.equal(paints.waitsFor(sent[0].seq), true);
  assert.equal(paints.refused(sent[0].seq), true);
  assert.deepEqual([explorer.scene.color, sent.length], [{ density: 1 }, 2]);
  assert.equal(paints.refused(sent[1].seq), false); // a server that has no frame of this page
  assert.deepEqual([sent.length, paints.settled], [2, true]);
  paints.set({ density: 3 }, false);
  accept();
  assert.equal(paints.refused(undefined), false); // an error about a view names no colors
  assert.equal(sent.length, 3);
  paints.set({ density: 4 }, false);
  assert.equal(paints.refused(sent.at(-1).seq), true);
});

test("a palette that is cycled stops where a scene without values comes: nothing there could end it", () => {
  const { explorer, paints } = page();
  Object.assign(explorer, { layers: [], wake() {}, tell() {} });
  globalThis.matchMedia ??= () => ({ matches: false });
  paints.cycle(0.2);
  explorer.stage.phase = 0.3;
  paints.start({ density: 2 }, true);
  assert.equal(paints.speed, 0.2); // another scene goes on
  paints.start({ density: 2 }, false);
  const { phase, hideExact } = explorer.stage;
  assert.deepEqual([paints.speed, paints.settled, phase, hideExact], [0, true, 0, false]);
});
