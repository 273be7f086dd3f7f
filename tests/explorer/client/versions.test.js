import assert from "node:assert/strict";
import { test } from "node:test";

import {
  branchesOf,
  changeOf,
  differencesOf,
  elsewhere,
  exponentOf,
  fileOf,
  MOST,
  reached,
  restored,
  textOf,
  together,
  versionsIn,
  withoutVersion,
} from "../../../fractals/explorer/client/versions.js";

const scene = (/** @type {Table} */ changes = {}) =>
  /** @type {any} */ ({
    title: "",
    formula: "mandelbrot",
    view: { center: ["0", "0"], width: "4", rotation: 0 },
    color: { palette: "hokusai", density: 1 },
    image: { size: [800, 600] },
    ...changes,
  });
const dense = (/** @type {number} */ density) => scene({ color: { palette: "hokusai", density } });

/** Reach scenes one after the other. */
function walk(/** @type {any[]} */ scenes, all = [], now = null) {
  const ids = [];
  let tree = /** @type {any} */ ({ all, now });
  for (const each of scenes) {
    tree = reached(tree.all, tree.now, each, "");
    ids.push(tree.now);
  }
  return { ...tree, ids };
}

test("a scene is one version, whatever the order of its keys and the size of the picture", () => {
  const { view, ...rest } = scene();
  assert.equal(textOf({ view, ...rest, image: { size: [10, 10] } }), textOf(scene()));
  assert.notEqual(textOf(dense(2)), textOf(scene()));
  assert.notEqual(
    textOf(scene({ view: { center: ["1", "0"] } })),
    textOf(scene({ view: { center: ["0", "1"] } })),
  );
  const { all, ids } = walk([scene(), dense(2), { ...rest, view }]);
  assert.equal(all.length, 2);
  assert.equal(ids[2], ids[0]); // undo goes back to it
});

test("who goes back and changes something else begins a row, and nothing is lost", () => {
  const { all, ids } = walk([dense(1), dense(2), dense(3), dense(2), dense(4), dense(5)]);
  const rows = branchesOf(all);
  assert.deepEqual(
    rows.map(({ items, depth }) => [depth, ...items.map((each) => each.scene.color.density)]),
    [
      [0, 1, 2, 3],
      [1, 4, 5],
    ],
  );
  assert.equal(rows[1].from?.id, ids[1]);
  assert.deepEqual(
    rows.flatMap(({ items }) => items.map(({ id }) => id)).sort(),
    all.map(({ id }) => id).sort(),
  );
});

test("rows of random walks have each version once, after what it was made of", () => {
  let seed = 7;
  const chance = (/** @type {number} */ below) => {
    seed = (seed * 16807) % 2147483647;
    return seed % below;
  };
  for (let round = 0; round < 40; round++) {
    const { all } = walk(Array.from({ length: 60 }, () => dense(chance(40))));
    const known = new Set();
    for (const { from, items } of branchesOf(all)) {
      assert.equal(items[0].parent, from?.id ?? null);
      items.forEach((each, k) => {
        assert.ok(!known.has(each.id));
        known.add(each.id);
        if (k) assert.equal(each.parent, items[k - 1].id);
      });
    }
    assert.equal(known.size, all.length);
  }
});

test("versions that are made of each other, as a file may say, are all shown, each once", () => {
  const made = (/** @type {string} */ id, /** @type {string|null} */ parent) =>
    /** @type {any} */ ({ id, parent, scene: dense(1), still: "", title: "", star: false });
  const all = [
    ...[made("a", "b"), made("b", "c"), made("c", "a")],
    ...[made("d", "b"), made("e", "e"), made("f", null), made("g", "f"), made("g", "f")],
  ];
  const rows = branchesOf(versionsIn(fileOf(all))).map(({ items }) => items.map(({ id }) => id));
  assert.deepEqual(rows.flat().sort(), ["a", "b", "c", "d", "e", "f", "g"]);
  assert.ok(rows.some((row) => row.join() === "b,d"));
  assert.ok(rows.some((row) => row.join() === "f,g"));
});

test("what was made of a version that is removed was made of its parent", () => {
  const { all, ids } = walk([dense(1), dense(2), dense(3)]);
  const left = withoutVersion(all, ids[1]);
  assert.deepEqual(
    left.map(({ id, parent }) => [id, parent]),
    [
      [ids[0], null],
      [ids[2], ids[0]],
    ],
  );
  assert.equal(withoutVersion(left, ids[0])[0].parent, null);
});

test("beyond the most, the oldest without a star and a name are forgotten", () => {
  let tree = walk([dense(0), dense(0.5)]);
  tree.all = tree.all.with(0, { ...tree.all[0], star: true });
  tree = walk(
    Array.from({ length: MOST }, (_, k) => dense(k + 1)),
    tree.all,
    tree.now,
  );
  assert.equal(tree.all.length, MOST);
  assert.equal(tree.all[0].star, true);
  assert.equal(tree.all[1].scene.color.density, 2);
  assert.equal(tree.all[1].parent, tree.all[0].id);
});

test("a file holds the tree, and other files are refused in one line", () => {
  const { all } = walk([dense(1), dense(2)]);
  const marked = all.with(1, {
    ...all[1],
    title: "Tide",
    star: true,
    still: "data:image/jpeg;base64,AAAA",
  });
  assert.deepEqual(versionsIn(fileOf(marked)), marked);
  for (const text of [
    "",
    "{",
    "[]",
    "null",
    '{"kind":"fractals.versions"}',
    '{"kind":"other","versions":[]}',
  ])
    assert.throws(() => versionsIn(text), /^Error: This file holds no versions/);
  const odd = { kind: "fractals.versions", versions: [{ id: 1 }, null, { id: "a", scene: {} }] };
  assert.throws(() => versionsIn(JSON.stringify(odd)), /holds no versions/);
  const [read] = versionsIn(
    JSON.stringify({
      kind: "fractals.versions",
      versions: [{ id: "a", parent: 3, scene: scene(), still: "javascript:x", title: 5, star: 1 }],
    }),
  );
  assert.deepEqual(read, {
    id: "a",
    parent: null,
    scene: scene(),
    still: "",
    title: "",
    star: false,
  });
});

test("a file's versions come beside those of now, which keep their names", () => {
  const { all } = walk([dense(1), dense(2)]);
  const named = all.with(0, { ...all[0], title: "Mine" }),
    given = [
      { ...all[0], title: "Theirs", star: true },
      { ...all[1], id: "new", parent: all[0].id },
    ];
  const found = together(named, given);
  assert.equal(found.length, 3);
  assert.deepEqual(
    found.find(({ id }) => id === all[0].id),
    { ...all[0], title: "Mine", star: true },
  );
});

test("differences are told by their keys, and widths of any size are compared", () => {
  assert.deepEqual(differencesOf(scene(), dense(2)), [
    { path: ["color", "density"], one: 1, other: 2 },
  ]);
  assert.deepEqual(differencesOf(scene(), scene({ image: { size: [1, 1] } })), []);
  for (const [text, exponent] of /** @type {[string, number][]} */ ([
    ["4", Math.log10(4)],
    ["0.00125", Math.log10(0.00125)],
    ["1.5e-4000", Math.log10(1.5) - 4000],
    ["123456789", Math.log10(123456789)],
  ]))
    assert.ok(Math.abs(exponentOf(text) - exponent) < 1e-9, text);
  assert.ok(Number.isNaN(exponentOf("wide")));
});

test("a version says in few words what was changed", () => {
  const version = (/** @type {any} */ given) => ({
    id: "",
    parent: null,
    scene: given,
    still: "",
    title: "",
    star: false,
  });
  const told = (/** @type {any} */ given) => changeOf(version(given), version(scene()));
  const view = scene().view;
  assert.equal(changeOf(version(scene()), null), "Mandelbrot");
  assert.equal(told(dense(2.5)), "Density: 2.5");
  assert.equal(told(scene({ color: { palette: "ember", density: 1 } })), "Palette: Ember");
  const own = (/** @type {string} */ ...stops) => ({ palette: { stops, cyclic: true } });
  assert.equal(told(scene({ color: own("#000", "#fff") })), "Palette");
  const before = version(scene({ color: own("#000", "#fff") }));
  assert.equal(changeOf(version(scene({ color: own("#000", "#f00") })), before), "Palette");
  const child = { ...own("#000", "#f00").palette, title: "Between" };
  assert.equal(told(scene({ color: { palette: child } })), "Palette: Between");
  assert.equal(told(scene({ formula: "burning_ship" })), "Burning ship");
  assert.equal(told(scene({ view: { ...view, width: "1" } })), "4 times nearer");
  assert.equal(told(scene({ view: { ...view, width: "8" } })), "2 times farther");
  assert.equal(told(scene({ view: { ...view, center: ["1", "0"] } })), "Moved");
  assert.equal(told(scene({ view: { ...view, rotation: 30 } })), "Turned");
  assert.equal(told(scene({ view: { ...view, width: "4e-40" } })), "10^40 times nearer");
});

test("versions of layers say which layer was changed, and how", () => {
  const version = (/** @type {any[]} */ layers) => ({
    id: "",
    parent: null,
    scene: scene({ color: { palette: "hokusai", density: 1, layers } }),
    still: "",
    title: "",
    star: false,
  });
  const slopes = { coloring: "slopes", blend: "screen", opacity: 0.7 },
    near = { coloring: "distance", blend: "multiply", opacity: 1 };
  const told = (/** @type {any[]} */ before, /** @type {any[]} */ now) =>
    changeOf(version(now), version(before));
  assert.equal(told([], [slopes]), "Layer added: Slopes");
  assert.equal(told([slopes], [slopes, { ...slopes, opacity: 1 }]), "Layer added: Slopes 2");
  assert.equal(told([near, slopes], [slopes]), "Layer removed: Distance");
  assert.equal(told([slopes], [{ ...slopes, blend: "soft_light" }]), "Slopes · Blend: Soft light");
  assert.equal(
    told([near, slopes, slopes], [near, slopes, { ...slopes, opacity: 0.25 }]),
    "Slopes 3 · Opacity: 0.25",
  );
  assert.equal(
    told([slopes], [{ ...slopes, coloring: "distance" }]),
    "Slopes · Coloring: Distance",
  );
  assert.equal(told([near, slopes], [slopes, near]), "Layers in another order");
  const group = { blend: "screen", layers: [near, slopes] };
  assert.equal(told([group], [{ ...group, blend: "multiply" }]), "Group");
  const inner = { ...group, layers: [near, { ...slopes, opacity: 0.5 }] };
  assert.equal(told([group], [inner]), "Slopes · Opacity: 0.5");
  assert.equal(
    changeOf(version([slopes]), { ...version([]), scene: scene() }),
    "Layer added: Slopes",
  );
});

test("what another tab writes and removes is seen, and what this one has added stays", () => {
  const { all, ids } = walk([dense(1), dense(2), dense(3)]);
  const named = { ...all[2], title: "mine" },
    made = { ...all[0], id: "new", parent: ids[2], scene: dense(9) };
  const seen = elsewhere(all, [named, made], [ids[1]]);
  assert.deepEqual(
    seen.map(({ id, parent, title }) => [id, parent, title]),
    [
      [ids[0], null, ""],
      [ids[2], ids[1], "mine"],
      ["new", ids[2], ""],
    ],
  );
  assert.equal(elsewhere(all, [], [ids[1]])[1].parent, ids[0]);
});

test("undoing a removal brings back what was removed, and nothing that another tab has removed since", () => {
  const { all, ids } = walk([dense(1), dense(2), dense(3), dense(4)]);
  const left = withoutVersion(all, ids[1]),
    made = { ...all[0], id: "new", parent: ids[0], scene: dense(9) };
  const later = elsewhere(left, [made, { ...left[0], star: true }], [ids[3]]);
  assert.deepEqual(
    restored(later, all, [ids[1]]).map(({ id, parent, star }) => [id, parent, star]),
    [
      [ids[0], null, true],
      [ids[1], ids[0], false],
      [ids[2], ids[1], false],
      ["new", ids[0], false],
    ],
  );
});
