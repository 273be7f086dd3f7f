import assert from "node:assert/strict";
import { test } from "node:test";

import { PIXELS, PREVIEW, TABLE, VALUES } from "../../../fractals/explorer/client/decode.js";
import { fresh, made } from "./shown.js";

const MOVE = { at: [800, 600], by: [160, 0], scale: 0, turn: 0 };
const EXACT = { t: "drawn", frame: 1, pass: "exact", paint: 0, least: 0, most: 9 };
const error = (/** @type {object} */ keys) =>
  /** @type {any} */ ({ t: "error", message: "wrong", column: 4, ...keys });

test("what is told of older frames and of older colors is left out", () => {
  const { answers, explorer, paints, drawn } = made();
  for (const t of ["layers", "drawn", "status", "paused"])
    answers.text(/** @type {any} */ ({ ...EXACT, t, frame: 0 }));
  answers.text(/** @type {any} */ ({ ...EXACT, paint: 1 }));
  for (const key of ["drawn", "status", "paused"]) assert.equal(explorer[key], null);
  const tile = { kind: VALUES, frame: 1, paint: 0 };
  assert.ok(answers.wants(/** @type {any} */ (tile)));
  for (const old of [
    { ...tile, frame: 0 },
    { ...tile, paint: 1 },
  ]) {
    assert.ok(!answers.wants(/** @type {any} */ (old)));
    answers.binary(/** @type {any} */ (old));
  }
  for (const kind of [PREVIEW, TABLE]) assert.ok(answers.wants(/** @type {any} */ ({ kind })));
  assert.deepEqual(drawn, []);
  answers.binary(/** @type {any} */ (tile));
  answers.binary(/** @type {any} */ ({ ...tile, kind: PIXELS }));
  paints.set({ palette: "ice" }, false); // pixels in the old colors
  answers.binary(/** @type {any} */ ({ ...tile, kind: PIXELS }));
  assert.equal(drawn.length, 2);
});

test("a picture that rests is kept for the list of undo", () => {
  const { answers, explorer, undo, said } = made();
  answers.text(/** @type {any} */ ({ ...EXACT, pass: "coarse" }));
  assert.equal(undo.still, "");
  answers.text(/** @type {any} */ (EXACT));
  assert.deepEqual(explorer.drawn, EXACT);
  assert.ok(undo.still);
  assert.deepEqual(said, ["drawn", "drawn"]);
});

test("a view that can't be drawn returns to the one before, once", () => {
  const { answers, queue, send, place, said } = made();
  queue.move(MOVE, "settled");
  send();
  place();
  answers.text(error({ re: "view", frame: 2 }));
  assert.equal(queue.entries.length, 1);
  assert.deepEqual(said.at(-1), ["Wrong", "error", null, 4]);
  assert.equal(send().base, 1);
  place();
  answers.text(error({ re: "view", frame: 3 })); // nor can that
  assert.deepEqual(queue.asked, []);
});

test("a scene that can't be drawn gives way to the one before, and redo does not lead to it", () => {
  const { answers, changes, explorer, queue, undo, send, place } = made();
  answers.text(/** @type {any} */ (EXACT));
  changes.place({ center: ["1e400", "0"] });
  send();
  place();
  assert.deepEqual(explorer.scene.view.center, ["1e400", "0"]);
  answers.text(/** @type {any} */ ({ t: "status", frame: 2, what: "preparing" }));
  answers.text(error({ re: "open", frame: 2 }));
  assert.equal(explorer.status.t, "failed");
  assert.deepEqual(undo.history.forth, []);
  assert.deepEqual(send().scene.view.center, ["-0.7", "0.1"]);
  place();
  assert.equal(explorer.status, null);
  answers.text(error({ re: "open", frame: 3 })); // a busy server: the page stays where it is
  assert.equal(explorer.status.t, "failed");
  assert.deepEqual(queue.asked, []);
});

test("a link to a scene that can't be drawn shows what the server was started with", () => {
  const { answers, queue, reconnect, send, place } = fresh();
  queue.entries.push({ open: { link: "far" }, again: true });
  send();
  place();
  answers.text(error({ re: "view", frame: 1 })); // a site says so
  assert.deepEqual(queue.entries, [{ open: {}, again: true }]);
  send();
  place();
  answers.text(error({ re: "open", frame: 2 }));
  assert.deepEqual(queue.entries, []);
  reconnect.welcomed(null); // the link is not asked for again
  assert.deepEqual(queue.entries, [{ open: {}, again: true }]);
});

test("of what was never placed nothing stays, and what was shown does", () => {
  const { answers, changes, explorer, queue, undo, send } = made();
  answers.text(/** @type {any} */ (EXACT));
  changes.open({ scene: { formula: "nope" } });
  const { frame } = send();
  queue.move(MOVE, "settled");
  assert.equal(explorer.drawn, null);
  answers.text(error({ re: "open", frame }));
  assert.deepEqual(queue.asked, []);
  assert.equal(undo.history.back.length, 0);
  assert.deepEqual(explorer.drawn, EXACT);
});

test("going forward to a place that is refused, or can't be drawn, leads back to the entry before", () => {
  for (const drawn of [false, true]) {
    const { answers, changes, explorer, queue, undo, said, send, place } = made();
    explorer.entry = 3; // the browser has gone there from entry 2
    changes.open({ link: "far" }, "", { jump: false, from: 2 });
    const { frame } = send();
    if (drawn) place();
    answers.text(error({ re: "open", frame }));
    assert.deepEqual(undo.steps, { back: [], forth: [] });
    const [shown] = queue.entries; // again, by `Explorer.undo`, which follows its entry
    assert.equal(drawn ? shown.state.entry : explorer.entry, 2);
    assert.equal(said.includes("turned"), !drawn);
  }
});

test("a formula of which nothing is seen, or that can't be drawn here, is shown whole", () => {
  const { answers, changes, queue, send, place } = made();
  changes.formula("tricorn");
  send();
  place();
  answers.text(/** @type {any} */ ({ ...EXACT, frame: 2, pass: "coarse", most: 0 }));
  assert.deepEqual(queue.entries[0].open, { formula: "tricorn" });
  queue.entries = [];
  changes.formula("heart");
  const { frame } = send();
  answers.text(error({ re: "open", frame }));
  assert.equal(queue.flight, null);
  assert.deepEqual(queue.entries[0].open, { formula: "heart" });
});

test("refused colors give way to those that were accepted", () => {
  const { answers, explorer, paints, fit, sent, said } = made();
  paints.set({ palette: "nope" }, false);
  fit.want(0);
  answers.text(error({ re: "paint", seq: 1 }));
  assert.deepEqual(explorer.scene.color, { palette: "ember" });
  assert.ok(!fit.waits);
  assert.deepEqual(
    sent.map(({ color }) => color.palette),
    ["nope", "ember"],
  );
  assert.deepEqual(said, ["painted", ["Wrong", "error", null, 4]]);
});

test("a jump is an entry of the browser's list, and colors chosen meanwhile are those of the scene", () => {
  const { answers, changes, explorer, queue, send, place, said, sent } = made();
  Object.assign(changes.open({ scene: { formula: "heart" } }), { color: { palette: "ice" } });
  send();
  assert.ok(queue.flight);
  place({ unused: "julia is not used" });
  assert.equal(explorer.entry, 1);
  assert.deepEqual(explorer.scene.color, { palette: "ice" });
  assert.equal(sent.at(-1).color.palette, "ice");
  assert.deepEqual(said, ["opening", "jump", ["About the scene: Julia is not used"], "placed"]);
  answers.text(/** @type {any} */ ({ t: "placed", frame: 1 })); // no answer to anything
  assert.equal(explorer.placed.frame, 2);
});

test("a lost connection says why, and the next one is told what is shown and what was asked for", () => {
  const { answers, explorer, queue, said, send, drawn } = made();
  queue.move(MOVE, "settled");
  send();
  answers.lost("gone");
  assert.ok(!explorer.connected && explorer.lost === "gone");
  assert.deepEqual(said, ["disconnected"]);
  assert.deepEqual(drawn, [["lost"]]);
  answers.text(/** @type {any} */ ({ t: "welcome", role: "guest" }));
  assert.ok(explorer.connected && !explorer.lost);
  assert.deepEqual(
    queue.entries.map(({ open, move }) => open?.scene ?? move),
    [explorer.scene, MOVE],
  );
  said.length = 0;
  answers.text(/** @type {any} */ ({ t: "device", device: "cpu", why: "slow" }));
  assert.deepEqual(said, []); // a guest can do nothing about it
  explorer.welcome.role = "leader";
  answers.text(/** @type {any} */ ({ t: "device", device: "cpu", why: "slow" }));
  assert.deepEqual(said, [["slow"]]);
});
