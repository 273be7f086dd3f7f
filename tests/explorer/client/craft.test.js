import assert from "node:assert/strict";
import { test } from "node:test";

import { History } from "../../../fractals/explorer/client/history.js";
import { children } from "../../../fractals/explorer/client/panels/breed.js";
import {
  curveAt,
  heightOf,
  rangeOf,
  traced,
  valueAt,
} from "../../../fractals/explorer/client/panels/curves.js";
import { flyTo, path } from "../../../fractals/explorer/client/panels/flight.js";
import { flat, looksOf } from "../../../fractals/explorer/client/panels/looks.js";
import { stopsOf } from "../../../fractals/explorer/client/panels/photo.js";

/** Numbers from 0 to 1 that are the same in each run. */
function chance(seed) {
  return () => (seed = (seed * 48271) % 2147483647) / 2147483647;
}

const TABLE = {
  stops: [
    [0, "#000000"],
    [0.5, "#ffffff"],
  ],
  cyclic: true,
};
const CATALOG = {
  palettes: [{ name: "ink", ...TABLE }],
  colorings: [{ name: "smooth", palette: "ink" }],
};

test("a poster's palette has flat colors between narrow edges", () => {
  const { stops } = flat(TABLE, 4);
  assert.equal(stops.length, 8);
  for (let k = 0; k < 8; k += 2) assert.equal(stops[k][1], stops[k + 1][1]);
  const places = stops.map(([place]) => place);
  assert.deepEqual(
    places,
    [...places].sort((a, b) => a - b),
  );
  assert.ok(places[0] === 0 && places.at(-1) < 1);
  for (let k = 1; k < 7; k += 2) assert.ok(places[k + 1] - places[k] < 0.001);
});

test("a look replaces the layers, and only a poster the palette", () => {
  const color = { coloring: "smooth", palette: "ink", density: 3, layers: [{ coloring: "rank" }] };
  const looks = looksOf(color, CATALOG);
  assert.deepEqual(
    looks.map(({ id }) => id),
    ["plain", "light", "relief", "ink", "engraving", "poster"],
  );
  for (const { id, change } of looks) {
    assert.equal(change.color.density, 3);
    assert.ok(!change.color.layers.some(({ coloring }) => coloring === "rank"));
    assert.equal(typeof change.color.palette === "object", id === "poster");
  }
  assert.deepEqual(looks[0].change.color.layers, []);
});

test("the palette of a photograph has its main colors, the darkest first, in a short loop", () => {
  const colors = [
      [10, 20, 40],
      [200, 60, 30],
      [250, 240, 220],
      [30, 120, 90],
    ],
    pixels = [];
  for (let k = 0; k < 400; k++) pixels.push(...colors[k % 4], 255);
  pixels.push(0, 255, 0, 255); // a single pixel is no main color
  const stops = stopsOf(pixels),
    found = stops.map(([, hex]) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  assert.equal(stops.length, 4);
  assert.deepEqual(
    stops.map(([place]) => place),
    [0, 0.25, 0.5, 0.75],
  );
  assert.ok(found[0].every((part, k) => Math.abs(part - colors[0][k]) <= 2));
  for (const color of colors)
    assert.ok(found.some((each) => each.every((part, k) => Math.abs(part - color[k]) <= 2)));
  assert.equal(stopsOf([0, 0, 0, 0]).length, 1); // transparent
});

test("children have the place of one parent and colors of both, and differ", () => {
  const one = {
    julia: ["0", "1"],
    view: { width: "3" },
    color: { coloring: "smooth", palette: "ink", layers: [{ coloring: "slopes" }] },
  };
  const other = {
    formula: "burning_ship",
    view: { width: "1e-5" },
    color: { coloring: "rank", palette: "jade" },
  };
  const between = () => ({ title: "Between" });
  const found = children(one, other, 12, chance(3), between);
  assert.equal(found.length, 12);
  assert.equal(new Set(found.map((child) => JSON.stringify(child))).size, 12);
  for (const child of found) {
    const parent = child.formula === "burning_ship" ? other : one;
    assert.deepEqual([child.view, child.julia], [parent.view, parent.julia ?? null]);
    assert.ok(["smooth", "rank"].includes(child.color.coloring));
    assert.ok(
      ["ink", "jade", "Between"].includes(child.color.palette.title ?? child.color.palette),
    );
  }
  for (const part of ["formula", "color.coloring"]) {
    const values = found.map((child) => part.split(".").reduce((value, key) => value[key], child));
    assert.equal(new Set(values).size, 2, part);
  }
});

test("children of scenes of two kinds have no key that only the other kind has", () => {
  const color = { palette: "ink", layers: [{ coloring: "slopes" }] };
  const flat = { formula: "newton", view: {}, iteration: {}, color };
  const flame = {
    ...{ formula: { name: "flame", transforms: [] }, view: { width: "4" }, color: {} },
    ...{ scatter: { quality: 9 }, display: { gamma: 4 }, title: "Flame" },
  };
  const found = children(flat, flame, 12, chance(5), () => "jade");
  for (const child of found) {
    const isFlat = child.formula === "newton";
    assert.deepEqual(child.scatter, isFlat ? null : { quality: 9 });
    assert.deepEqual(child.display, isFlat ? null : { gamma: 4 });
    assert.equal("title" in child, false);
    assert.ok(isFlat || !child.color.layers.length); // which points do not have
  }
  assert.ok(found.some((child) => child.color.layers.length));
  assert.equal(new Set(found.map(({ scatter }) => scatter)).size, 2);
});

test("children of two flames have transforms of both, and factors of the one whose place they have", () => {
  const flame = (name, count, more = {}) => ({
    view: { width: name },
    color: { palette: name },
    formula: {
      name: "flame",
      transforms: Array.from({ length: count }, (_, k) => ({ color: k, from: name, ...more })),
    },
  });
  const [one, other] = [flame("1", 3), flame("2", 5, { xaos: [1, 0, 1, 1, 1] })];
  const found = children(one, other, 12, chance(7), () => "jade"),
    mixed = found.filter(({ formula }) => new Set(formula.transforms.map((t) => t.from)).size > 1);
  assert.ok(mixed.length > 3);
  for (const { view, formula } of found) {
    assert.equal(formula.transforms.length, view.width === "1" ? 3 : 5);
    formula.transforms.forEach(({ color, xaos }, k) => {
      assert.equal(color, k);
      assert.equal(xaos?.length, view.width === "1" ? undefined : 5);
    });
  }
});

test("children of two attractors or solids of one formula have numbers of both, and looks of one", () => {
  const one = {
    view: { width: "1" },
    color: { palette: "ink" },
    formula: { name: "clifford", a: -1.7, b: 1.8, rounds: 3, mode: "x" },
    display: { gamma: 2 },
  };
  const other = {
    view: { width: "2" },
    color: { palette: "jade" },
    formula: { name: "clifford", a: 1.5, b: -1.8, rounds: 6 },
    display: { gamma: 4 },
  };
  const found = children(one, other, 40, chance(11), () => "between");
  const values = (/** @type {string} */ key) => [
    ...new Set(found.map(({ formula }) => formula[key]).filter((each) => each !== undefined)),
  ];
  assert.deepEqual(values("a").sort(), [-0.1, -1.7, 1.5]);
  assert.deepEqual(values("b").sort(), [-1.8, 0, 1.8]);
  assert.deepEqual(values("rounds").sort(), [3, 6]); // whole numbers stay whole
  assert.ok(found.some(({ view, display }) => view.width === "1" && display.gamma === 4));
  for (const { formula, view } of found) assert.equal(formula.mode === "x", view.width === "1");
  const solid = { ...other, formula: { name: "menger", a: 1 }, light: { haze: 1 } };
  for (const { formula, light } of children(one, solid, 12, chance(3), () => "between"))
    assert.deepEqual(
      [formula.a, light],
      formula.name === "menger" ? [1, { haze: 1 }] : [-1.7, null],
    );
});

/** A model whose server answers a move after some frames, and draws it after some more. */
class Server extends EventTarget {
  size = [640, 400];
  scene = { view: {} };
  placed = { center: ["0", "0"], width: "4", rotation: 0, octaves: 0, size: [640, 400] };
  seen = { middle: [5120, 3200], share: 1 };
  octaves = 0; // of the wish
  drawn = 0; // of the newest picture
  most = 0; // octaves from a picture to what is seen
  late = 0;
  each = /** @type {((seconds: number) => void)|null} */ (null);
  stage = { away: () => Math.abs(this.octaves - this.drawn) };
  get map() {
    const k = 2 ** (this.octaves - this.placed.octaves);
    return [k, 0, 0, k, 320 - 320 * k, 200 - 200 * k];
  }
  animate(/** @type {(seconds: number) => void} */ each) {
    this.each = each;
    return () => (this.each = null);
  }
  move(/** @type {{scale: number}} */ { scale }) {
    this.octaves += scale / 64;
  }
  /** Let a frame of the screen pass; a picture needs some frames. */
  frame(/** @type {number} */ count) {
    this.each?.(1 / 60);
    this.most = Math.max(this.most, this.stage.away());
    const { octaves } = this;
    if (++this.late < count) return;
    this.late = 0;
    this.drawn = this.placed.octaves;
    this.placed = { ...this.placed, octaves, width: `${4 * 2 ** -octaves}` };
  }
}

test("a flight waits for pictures, and a fast server lets it fly as fast as it can", async () => {
  const frames = [];
  for (const late of [1, 20, 60]) {
    const server = new Server();
    const { done } = flyTo(/** @type {any} */ (server), {
      center: ["0", "0"],
      octaves: 640,
      step: "flight 1",
    });
    let count = 0;
    for (; server.each; count++) {
      server.frame(late);
      assert.ok(count < 20_000);
    }
    assert.equal(await done, true);
    assert.ok(Math.abs(server.octaves - 640) < 0.1);
    assert.ok(server.most < 10, `${server.most} octaves from a picture`); // nothing is seen of one at 12
    frames.push(count);
  }
  const [fast, slow, slower] = frames;
  assert.ok(fast < 1.05 * 1200 && slow > 1200 && slower > 2 * slow, frames.join());
});

test("a slower flight takes longer, and ends at the same place", () => {
  const [fast, slow] = [path(0.4, 3), path(0.4, 3, 0.35)];
  assert.ok(slow.seconds > 3 * fast.seconds);
  for (const way of [fast, slow]) {
    const { octaves, left } = way.at(way.seconds);
    assert.ok(Math.abs(octaves - 3) < 1e-6 && left === 0);
  }
});

test("a flight keeps its target in view, however deep it lies and however near", () => {
  for (const octaves of [-12, 0, 3, 40, 127, 445, 1500, 27000])
    for (const distance of [0, 1e-12, 1e-7, 0.4]) {
      const way = path(distance, octaves),
        parts = Array.from({ length: 401 }, (_, k) => way.at((k / 400) * way.seconds));
      const error = Math.abs(parts[400].octaves - octaves);
      assert.ok(error < 1e-6 * Math.max(1, octaves), `${octaves} ${distance}: ${error}`);
      assert.ok(Math.abs(parts[0].octaves) < 1e-6 && Math.abs(parts[0].left - 1) < 1e-6);
      for (const { left } of parts)
        assert.ok(left >= 0 && left * distance < 0.6, `${octaves} ${distance}: ${left}`);
      assert.equal(parts[400].left, 0);
    }
});

test("the pictures of steps survive a reload", () => {
  const history = new History(),
    state = { frame: 3, scene: {}, origin: 1, entry: 0, still: "data:" };
  history.note("", () => state);
  assert.deepEqual(JSON.parse(JSON.stringify(history)).back, [
    { frame: 0, scene: {}, origin: -1, entry: 0, still: "data:" },
  ]);
});

test("curves are those of films, and a drag in a graph is their inverse", () => {
  // test_film_tracks.py has the same numbers
  for (const [ease, ...wanted] of [
    ["constant", 0.25, 0.875],
    ["in", 0.02734, 0.75366],
    ["out", 0.47266, 0.99634],
    ["both", 0.09375, 0.98633],
    ["hold", 0, 0],
  ]) {
    const points = [
      [0, 0],
      [1, 2],
      [3, 6, ease],
    ];
    const found = [0.25, 0.875].map((share) => (curveAt(points, 1 + 2 * share) - 2) / 4);
    assert.ok(
      found.every((each, k) => Math.abs(each - wanted[k]) < 1e-5),
      `${ease}: ${found}`,
    );
    assert.equal(curveAt(points, 3), 6);
  }
  const points = [
    [0.1, 0],
    [0.2, 1],
    [0.5, 4],
    [0.9, 3.5],
  ];
  const soft = [-1, 0.15, 0.3, 0.7, 2].map((at) => Number(curveAt(points, at).toFixed(6)));
  assert.deepEqual(soft, [0, 0.5, 2.222222, 3.8125, 3.5]);
  const line = traced(points),
    range = rangeOf([0, 4]);
  assert.deepEqual(
    [line[0], line.at(-1)],
    [
      [0, 0],
      [1, 3.5],
    ],
  );
  assert.deepEqual([valueAt(range, heightOf(range, 3)), rangeOf([2, 2])], [3, [1, 3]]);
});
