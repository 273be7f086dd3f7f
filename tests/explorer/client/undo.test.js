import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Chain } from "../../../fractals/explorer/client/frames.js";
import { Queue } from "../../../fractals/explorer/client/queue.js";
import { resized, Undo } from "../../../fractals/explorer/client/undo.js";

const SIZE = [80, 60];
const MOVE = { at: [640, 480], by: [16, 0], scale: 0, turn: 0 };
const scene = (/** @type {object} */ color = { palette: "ember" }) =>
  /** @type {any} */ ({ color, image: { size: SIZE } });

/** Undo of a view whose frame 7 is shown. */
function made() {
  const shown = { scene: scene(), entry: 2, size: SIZE },
    chain = new Chain(),
    paint = mock.fn();
  chain.start(7);
  const queue = new Queue((after) => undo.fill(after));
  const undo = new Undo(shown, queue, chain, paint);
  return { shown, queue, chain, undo, paint };
}

test("what is shown is a state, with its small picture", () => {
  const { shown, undo } = made();
  undo.still = "data:image/jpeg,";
  const now = undo.now();
  assert.deepEqual(now, { frame: 7, scene: shown.scene, origin: 0, entry: 2, still: undo.still });
  undo.remember("");
  assert.equal(undo.still, "");
});

test("a state of a move that is under way is known once that is placed, in the colors of then", () => {
  const { shown, queue, chain, undo } = made();
  queue.move(MOVE, "settled");
  const wish = queue.entries.shift();
  queue.flight = /** @type {any} */ (wish);
  const state = undo.now();
  assert.equal(state.scene, null);
  assert.equal(undo.restoring(state, 7), null);
  shown.scene = scene({ palette: "jade" });
  chain.start(8);
  undo.fill({ state, move: null });
  assert.deepEqual(state.scene?.color, { palette: "ember" });
  assert.equal(state.frame, 8);
});

test("a state is shown by its frame as long as the server keeps that, and by its scene after", () => {
  const { shown, undo, paint } = made();
  const state = undo.now();
  assert.deepEqual(undo.restoring(state, 7), { t: "view", base: 7 });
  assert.deepEqual(undo.restoring({ ...state, move: MOVE }, 7), { t: "view", base: 7, ...MOVE });
  assert.equal(paint.mock.callCount(), 0);
  shown.scene = scene({ palette: "jade" });
  undo.restoring(state, 7);
  assert.deepEqual(paint.mock.calls[0].arguments, [{ palette: "ember" }]);
  const opened = { t: "open", scene: state.scene };
  assert.deepEqual(undo.restoring(state, 400), opened); // forgotten
  assert.deepEqual(undo.restoring({ ...state, origin: 3 }, 7), opened); // of another scene
  shown.size = [100, 60];
  assert.deepEqual(undo.restoring(state, 7), opened);
});

test("several steps at once, and there and back", () => {
  const { shown, undo } = made();
  for (const name of ["a", "b", "c"]) {
    undo.remember("");
    shown.scene = scene({ palette: name });
  }
  const palette = (
    /** @type {import("../../../fractals/explorer/client/history.js").State|undefined} */ state,
  ) => {
    shown.scene = state?.scene;
    return state?.scene?.color.palette;
  };
  assert.equal(palette(undo.step(-2)), "a");
  assert.deepEqual(
    undo.steps.forth.map((state) => state.scene?.color.palette),
    ["b", "c"],
  );
  assert.equal(palette(undo.step(9)), "c");
  assert.equal(undo.step(1), undefined);
});

test("a move from a state's scene keeps its place on a canvas of another size", () => {
  const state = /** @type {any} */ ({ scene: scene(), move: MOVE });
  assert.deepEqual(resized(state, [160, 120]), {
    ...MOVE,
    at: [1280, 960],
    by: [32, 0],
    about: undefined,
  });
  assert.equal(resized(/** @type {any} */ ({ scene: scene() }), [160, 120]), null);
});
