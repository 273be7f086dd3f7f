import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { symmetryOf, withSymmetry } from "../../../fractals/explorer/client/flames.js";
import { Flight } from "../../../fractals/explorer/client/flight.js";
import {
  Chain,
  compose,
  IDENTITY,
  inverse,
  isIdentity,
  mapOf,
} from "../../../fractals/explorer/client/frames.js";
import { Queue } from "../../../fractals/explorer/client/queue.js";
import { Undo } from "../../../fractals/explorer/client/undo.js";
import {
  changedScene,
  movedTo,
  pinned,
  sceneAt,
  wholeOf,
  wishedOf,
} from "../../../fractals/explorer/client/wishes.js";

const NAMED = { title: "Arena", author: "A", rights: "R", note: "N" };
const UNNAMED = { title: "", author: "", rights: "", note: "" };
const PLACED = /** @type {any} */ ({ center: ["0", "1"], width: "2", zoom: "1.5", rotation: 30 });
const SCENE = /** @type {any} */ ({ ...NAMED, view: { zoom: "1.5", mirror: true, rotation: 30 } });
const MOVE = { at: [800, 600], by: [160, 0], scale: 16, turn: 0 };
const SIZE = [100, 75];
const FLAME = [{ weight: 3 }, { color: 1 }, { color: 0.5 }];

beforeEach(() => mock.method(performance, "now", () => 5000)); // long after a page was loaded

/** A page over a server that answers when it is told to. The center of a place is the map of its frame from the first one. */
class Page {
  shown = /** @type {any} */ ({
    entry: 0,
    size: SIZE,
    placed: { ...PLACED, frame: 0, center: IDENTITY },
    scene: {
      ...NAMED,
      color: { palette: "ember" },
      view: { center: IDENTITY },
      formula: { name: "flame", transforms: FLAME },
      image: { size: SIZE },
    },
  });
  chain = new Chain();
  queue = new Queue((after) => this.undo.fill(after));
  undo = new Undo(this.shown, this.queue, this.chain, (color) => this.show(color));
  flight = new Flight(this.shown, this.queue, this.chain, this.undo);
  where = IDENTITY; // of the newest frame in the first one
  frames = new Map([[0, IDENTITY]]);
  time = 0;

  constructor() {
    this.chain.start(0);
  }
  get wished() {
    const { scene, placed } = this.shown;
    return wishedOf(this.queue.asked, { scene, placed, frame: this.chain.newest });
  }
  change(/** @type {object} */ keys) {
    const { scene, moves, frame } = this.wished;
    this.undo.remember("");
    this.queue.open({ open: { scene: changedScene(scene, keys) }, of: frame, edits: true });
    for (const move of moves) this.queue.move(move, "settled");
  }
  show(/** @type {object} */ color) {
    this.shown.scene = { ...this.shown.scene, color };
  }
  /** What `Explorer.paint` does. */
  paint(/** @type {any} */ color) {
    this.undo.remember("");
    const asked = this.queue.asked.findLast(({ open, state }) => open ?? state);
    if (asked) asked.color = color;
    this.show(color);
  }
  /** What the part "Symmetry" of the panel does. */
  symmetry(/** @type {object} */ changes) {
    const formula = /** @type {any} */ (this.wished.scene.formula),
      { transforms: list } = formula;
    const transforms = withSymmetry(list, { ...symmetryOf(list), ...changes });
    this.change({ formula: { ...formula, transforms } });
  }
  move() {
    this.undo.remember("");
    this.queue.move(MOVE, "settled");
  }
  send() {
    if (!this.queue.entries.length) return null;
    this.flight.seen(); // images of points wait for each other
    return this.queue.flight ? null : this.flight.next((this.time += 1000), false);
  }
  /** The server places what is under way. */
  answer() {
    const { asked } = this.queue.flight ?? {};
    if (!asked) return;
    const { frame, base = null } = asked,
      view = asked.t === "view";
    const newest = this.frames.get(this.chain.newest) ?? IDENTITY;
    const map = view
      ? compose(
          this.frames.get(base ?? 0) ?? IDENTITY,
          "at" in asked ? mapOf(/** @type {any} */ (asked)) : IDENTITY,
        )
      : /** @type {any} */ (asked.scene).view.center;
    const landed = this.flight.landed(
      /** @type {any} */ ({
        frame,
        base: this.chain.newest,
        map: compose(inverse(newest), map),
      }),
    );
    assert.ok(landed);
    if (!view) this.undo.origin++;
    const { color } = landed.flight;
    const scene = { ...(view ? this.shown.scene : asked.scene), view: { center: map } };
    this.shown.scene = color ? { ...scene, color } : scene;
    this.shown.placed = { ...PLACED, frame, center: map };
    this.frames.set(frame, map);
    this.where = map;
    this.flight.tell(landed.flight, view ? undefined : this.shown.scene);
  }
  settle() {
    for (let k = 0; this.queue.asked.length; k++) {
      assert.ok(k < 100);
      this.send();
      this.answer();
    }
  }
}

test("the whole of a formula keeps how its plane lies, and a solid what its camera is", () => {
  assert.deepEqual(wholeOf(SCENE).view, { mirror: true });
  const camera = { position: [0, 0, 1], target: [0, 0, 0], field: 50 };
  assert.deepEqual(wholeOf({ ...SCENE, camera }).camera, { field: 50 });
});

test("parts of a place are changed one after the other while none is shown yet", () => {
  const first = movedTo(pinned(SCENE, PLACED), { zoom: "100" });
  assert.deepEqual(first.view, { center: ["0", "1"], zoom: "100", rotation: 30, mirror: true });
  const asked = [{ open: { scene: first } }];
  const { scene, frame } = wishedOf(asked, { scene: SCENE, placed: PLACED, frame: 3 });
  assert.equal(frame, null);
  const next = movedTo(scene, ({ rotation }) => ({ rotation: Number(rotation) + 5 }));
  assert.deepEqual(next.view, { ...first.view, rotation: 35 });
  assert.equal(movedTo(scene, { width: "3" }).view.zoom, undefined);
  assert.deepEqual(sceneAt(SCENE, next.view).view, next.view);
  const color = changedScene(wishedOf(asked, { scene: SCENE, placed: PLACED, frame: 3 }).scene, {
    display: { gamma: 2 },
  });
  assert.equal(color.view.zoom, "100"); // a change of other keys stays at the place
});

test("other keys end the words of a scene, and lie where it lies", () => {
  const keys = /** @type {any} */ ({ display: { gamma: 2 }, formula: "tricorn" });
  assert.deepEqual(changedScene(pinned(SCENE, PLACED), keys), {
    ...UNNAMED,
    ...keys,
    view: { center: ["0", "1"], width: "2", rotation: 30, mirror: true },
  });
  assert.deepEqual(pinned(SCENE, { ...PLACED, camera: {} }).view, {});
});

test("a change starts from the one before, however late the server answers", () => {
  for (const answers of [0, 1, 2, 3]) {
    const page = new Page();
    const wait = () => {
      page.send();
      if (answers & 1) page.answer();
      if (answers & 2) page.send();
    };
    page.symmetry({ fold: 3, mirrored: true });
    wait();
    assert.equal(symmetryOf(/** @type {any} */ (page.wished.scene.formula).transforms).fold, 3);
    page.symmetry({ fold: 1 });
    wait();
    page.symmetry({ mirrored: false });
    page.settle();
    assert.deepEqual(page.shown.scene.formula.transforms, FLAME);
    assert.deepEqual(
      page.undo.history.back.map(
        ({ scene }) => /** @type {any} */ (scene)?.formula.transforms.length,
      ),
      [3, 6, 4],
    );
  }
});

test("a change of other keys keeps moves and colors that are asked for", () => {
  const page = new Page();
  page.move();
  page.send();
  page.move(); // not sent
  page.change({ display: { gamma: 2 } });
  const jade = { palette: "jade" };
  page.paint(jade);
  assert.deepEqual(page.wished.scene.color, jade);
  page.move(); // the place is the same, so the user goes on there
  const there = [MOVE, MOVE, MOVE].map(mapOf).reduce(compose);
  const near = (/** @type {number[]} */ map) => map.map((part) => Math.round(part) + 0);
  assert.deepEqual(near(page.flight.map), near(there));
  page.settle();
  assert.deepEqual(near(page.where), near(there));
  assert.deepEqual(page.shown.scene.color, jade);
  assert.deepEqual(page.shown.scene.display, { gamma: 2 });
  assert.ok(isIdentity(page.flight.map));
});

test("a change after undo starts from what undo returns to", () => {
  for (const shown of [true, false]) {
    const page = new Page();
    page.symmetry({ fold: 4 });
    if (shown) page.settle();
    else page.send();
    page.symmetry({ mirrored: true });
    if (shown) page.settle();
    const state = page.undo.step(-1);
    assert.ok(state);
    page.queue.show(state);
    assert.equal(/** @type {any} */ (page.wished.scene.formula).transforms.length, 6);
    page.change({ display: { gamma: 3 } });
    page.settle();
    assert.equal(page.shown.scene.formula.transforms.length, 6);
    assert.deepEqual(page.shown.scene.display, { gamma: 3 });
  }
});

test("of a scene that only the server knows, nothing is told", () => {
  const page = new Page();
  page.queue.open({ open: { gallery: "arena" } });
  page.queue.move(MOVE, "settled");
  assert.deepEqual(page.wished.scene.formula, page.shown.scene.formula);
  assert.deepEqual(page.wished.moves, []);
  page.queue.open({ open: { formula: "tricorn" } });
  page.queue.move(MOVE, "settled");
  assert.equal(page.wished.scene.formula, "tricorn");
  assert.deepEqual(page.wished.moves, [MOVE]);
});

test("any order of changes, moves, undo and answers leads to what was wished for", () => {
  let seed = 1;
  const random = (/** @type {number} */ below) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  for (let run = 0; run < 100; run++) {
    const page = new Page(),
      known = new Map(); // what was wished for in states of undo
    let truth = { display: /** @type {object} */ ({}), moves: 0, palette: "ember" };
    const noted = () => {
      const state = page.undo.history.back.at(-1);
      if (!known.has(state)) known.set(state, truth);
    };
    for (let k = 0; k < 20; k++) {
      const way = random(6);
      if (way === 0) {
        const values = { [`value_${random(3)}`]: k };
        page.change({ display: { ...page.wished.scene.display, ...values } });
        noted();
        truth = { ...truth, display: { ...truth.display, ...values } };
      } else if (way === 1) {
        page.move();
        noted();
        truth = { ...truth, moves: truth.moves + 1 };
      } else if (way === 2) {
        const now = page.undo.now();
        if (!known.has(now)) known.set(now, truth);
        const state = page.undo.step(-1);
        if (!state) continue;
        page.queue.show(state);
        truth = known.get(state);
      } else if (way === 3) {
        page.paint({ palette: `${k}` });
        noted();
        truth = { ...truth, palette: `${k}` };
      } else if (way === 4) page.send();
      else page.answer();
      assert.deepEqual(page.wished.scene.display ?? {}, truth.display, `run ${run}`);
      assert.equal(page.wished.scene.color.palette, truth.palette, `run ${run}, step ${k}`);
    }
    page.settle();
    assert.deepEqual(page.shown.scene.display ?? {}, truth.display, `run ${run}`);
    assert.equal(page.shown.scene.color.palette, truth.palette, `run ${run}`);
    const zoom = Math.log2(Math.hypot(page.where[0], page.where[1]));
    assert.ok(Math.abs(zoom - truth.moves / 4) < 1e-6, `run ${run}`);
  }
});
