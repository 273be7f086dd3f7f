import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Flight, movedScene } from "../../../fractals/explorer/client/flight.js";
import { Chain, IDENTITY } from "../../../fractals/explorer/client/frames.js";
import { Queue } from "../../../fractals/explorer/client/queue.js";
import { Undo } from "../../../fractals/explorer/client/undo.js";

const SIZE = [80, 60];
const MOVE = { at: [640, 480], by: [16, 0], scale: 0, turn: 0 };

/** What flies for a view whose frame 0 is shown. */
function made() {
  const shown = /** @type {any} */ ({
    entry: 0,
    size: SIZE,
    placed: { frame: 0 },
    drawn: { pass: "exact" },
  });
  shown.scene = { color: {}, image: { size: SIZE } };
  const chain = new Chain();
  chain.start(0);
  const queue = new Queue((after) => undo.fill(after));
  const undo = new Undo(shown, queue, chain, () => {});
  return { shown, chain, queue, undo, flight: new Flight(shown, queue, chain, undo) };
}

test("a wish becomes a message of the newest frame, and waits for its time", () => {
  const { shown, queue, flight } = made();
  queue.move(MOVE, "moving");
  assert.deepEqual(flight.next(1000, false), {
    t: "view",
    frame: 1,
    base: 0,
    stage: "moving",
    ...MOVE,
  });
  assert.equal(queue.flight?.id, 1);
  assert.equal(queue.flight?.drawn?.pass, "exact"); // comes back if the view fails
  assert.equal(shown.drawn, null);
  queue.flight = null;
  queue.move(MOVE, "moving");
  assert.equal(flight.next(1020, false), null);
  assert.equal(flight.next(1400, true), null); // a held key waits longer for a first picture
  assert.equal(flight.next(1040, false)?.frame, 2);
  queue.flight = null;
  queue.move(MOVE, "settled");
  assert.equal(flight.next(1140, true), null);
  assert.equal(flight.next(1190, true)?.frame, 3);
});

test("an open has the size of the canvas, and the frame before, but not in a new connection", () => {
  const { queue, flight } = made();
  queue.open({ open: { gallery: "arena" } });
  const asked = { t: "open", gallery: "arena", size: SIZE };
  assert.deepEqual(flight.next(1000, false), { ...asked, frame: 1, base: 0 });
  queue.flight = null;
  queue.open({ open: { gallery: "arena" }, again: true });
  assert.deepEqual(flight.next(2000, false), { ...asked, frame: 2 });
});

test("a view is drawn first where the user looks, and a new size is one of the canvas alone", () => {
  const { queue, flight } = made();
  flight.focus = [7.6, 8.2];
  queue.move(MOVE, "settled");
  const message = /** @type {Sent.ViewMessage} */ (flight.next(1000, false));
  assert.deepEqual(message.focus, [8, 8]);
  queue.flight = null;
  queue.entries.push({ size: { map: IDENTITY } });
  assert.deepEqual(flight.next(2000, false), { t: "view", frame: 2, base: 0, size: SIZE });
});

test("a change of an image of points waits until the one before is seen", () => {
  const clock = mock.method(performance, "now", () => 5000);
  const { queue, flight } = made();
  queue.open({ open: { scene: /** @type {any} */ ({}) }, edits: true });
  assert.ok(flight.next(5000, false));
  queue.flight = null;
  queue.open({ open: { scene: /** @type {any} */ ({}) }, edits: true });
  assert.ok(flight.isHasty);
  assert.equal(flight.next(5100, false), null);
  flight.seen();
  assert.ok(flight.next(5200, false));
  clock.mock.restore();
});

test("the answer makes the frame the newest, and no other answer does", () => {
  const { chain, queue, flight } = made();
  queue.move(MOVE, "settled");
  flight.next(1000, false);
  const placed = /** @type {any} */ ({ frame: 1, base: 0, map: [1, 0, 0, 1, 1, 0] });
  assert.equal(flight.landed({ ...placed, frame: 9 }), null);
  const landed = flight.landed(placed);
  assert.deepEqual(landed?.map, placed.map);
  assert.equal(chain.newest, 1);
  assert.equal(queue.flight, null);
  assert.equal(flight.landed(placed), null);
});

test("a state whose frame is forgotten is its scene, then the move from there", () => {
  const { shown, queue, flight } = made();
  const state = { frame: 0, scene: shown.scene, origin: -1, entry: 0, move: MOVE };
  queue.show(state);
  assert.equal(flight.next(1000, false)?.t, "open");
  const landed = flight.landed(/** @type {any} */ ({ frame: 1, base: null, map: null }));
  assert.ok(landed);
  flight.tell(landed.flight, shown.scene);
  assert.deepEqual(
    queue.entries.map(({ move }) => move?.by),
    [[16, 0]],
  );
});

test("a move changes the place of a scene, or the camera of a solid, and ends its words", () => {
  const scene = /** @type {any} */ ({
    title: "Arena",
    color: {},
    view: { zoom: "3", mirror: true },
  });
  const words = { title: "", author: "", rights: "", note: "" };
  const placed = { center: ["0", "1"], width: "2", rotation: 0, size: SIZE, ...words };
  assert.deepEqual(movedScene(scene, /** @type {any} */ (placed)), {
    ...words,
    color: {},
    view: { center: ["0", "1"], width: "2", rotation: 0, mirror: true },
    image: { size: SIZE },
  });
  const camera = { position: [0, 0, 1] };
  const solid = movedScene(scene, /** @type {any} */ ({ ...placed, camera }));
  assert.deepEqual([solid.camera, solid.view], [camera, scene.view]);
});

test("the picture is turned as it was drawn, and by all moves since", () => {
  const { shown, queue, flight } = made();
  assert.equal(flight.rotation, 0);
  shown.placed.rotation = 170;
  queue.move({ ...MOVE, turn: 3000 }, "settled");
  assert.ok(Math.abs(flight.rotation - 140) < 1e-6);
  queue.move({ ...MOVE, turn: -9000 }, "settled");
  assert.ok(Math.abs(flight.rotation + 130) < 1e-6);
  shown.scene.view = { mirror: true };
  assert.ok(Math.abs(flight.rotation - 110) < 1e-6);
});
