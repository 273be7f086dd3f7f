import assert from "node:assert/strict";
import { test } from "node:test";

import { changed, paintsOf } from "../../../fractals/explorer/client/paints.js";
import {
  at,
  canGroup,
  dropped,
  grouped,
  layerNames,
  moved,
  ungrouped,
  without,
} from "../../../fractals/explorer/client/panels/layering.js";

const [A, B, C, D] = "ABCD".split("").map((coloring) => ({ coloring }));
const group = (...layers) => ({ blend: "normal", opacity: 1, layers });
const text = (layers) =>
  layers.map((each) => (each.layers ? `(${text(each.layers)})` : each.coloring)).join("");

test("layers go up and down, into groups and out of them", () => {
  const list = [A, group(B, C), D];
  const walk = (path, step, count) => {
    const seen = [];
    let now = { layers: list, path };
    for (let k = 0; k < count; k++) {
      now = moved(now.layers, now.path, step);
      seen.push(text(now.layers));
    }
    return seen;
  };
  assert.deepEqual(walk([0], 1, 5), ["(ABC)D", "(BAC)D", "(BCA)D", "(BC)AD", "(BC)DA"]);
  assert.deepEqual(walk([2], -1, 5), ["A(BCD)", "A(BDC)", "A(DBC)", "AD(BC)", "DA(BC)"]);
  assert.deepEqual(walk([1], 1, 2), ["AD(BC)", "AD(BC)"]);
  assert.equal(text(moved([group(A), B], [0, 0], 1).layers), "AB"); // its group ends with it
  assert.equal(text(moved([A, group(B)], [1, 0], -1).layers), "AB");
});

test("a layer is dropped above another one, or into a group", () => {
  const list = [A, group(B, C), D];
  const after = (from, to) => {
    const now = dropped(list, from, to);
    assert.equal(at(now.layers, now.path), at(list, from));
    return text(now.layers);
  };
  assert.equal(after([0], [1]), "(BCA)D");
  assert.equal(after([2], [1, 0]), "A(BDC)");
  assert.equal(after([1, 0], [2]), "A(C)DB");
  assert.equal(after([1, 1], [0]), "AC(B)D");
  assert.equal(after([1], [2]), "AD(BC)");
  assert.equal(after([1], [1, 0]), "A(BC)D"); // no group is in itself
  assert.equal(after([1, 0], [1]), "A(BC)D");
  assert.equal(after([1, 0], [1, 1]), "A(CB)D");
});

test("groups are made and undone, and the last layer ends its group", () => {
  assert.equal(text(grouped([A, B], [1])), "A(B)");
  const soft = { ...B, blend: "soft_light", opacity: 0.7 },
    [, made] = grouped([A, soft], [1]);
  assert.deepEqual(
    [made.blend, made.opacity, made.layers[0].blend, made.layers[0].opacity],
    ["soft_light", 0.7, "normal", 1],
  );
  assert.deepEqual(ungrouped([A, made], [1]), [A, soft]);
  assert.equal(text(ungrouped([A, group(B, C), D], [1])), "ABCD");
  assert.equal(text(without([A, group(B)], [1, 0])), "A");
  assert.equal(text(without([A, group(B, C)], [1, 0])), "A(C)");
});

test("colors of layers are found and changed in groups", () => {
  const masked = { ...D, picture_mask: "a" },
    color = { coloring: "base", layers: [A, group(B, C), masked] };
  assert.deepEqual(
    paintsOf(color).map(({ paint }) => paint.coloring),
    ["base", "A", "B", "C", "D"],
  );
  assert.deepEqual(
    paintsOf(color).map(({ overs }) =>
      overs.map(({ layers, coloring }) => layers?.length ?? coloring),
    ),
    [[], [], [2], [2], ["D"]],
  );
  assert.deepEqual(changed(color, 3, { density: 2 }).layers[1].layers[1], { ...C, density: 2 });
  assert.deepEqual(changed(color, 0, { density: 2 }), { ...color, density: 2 });
  assert.deepEqual(changed(color, 4, { density: 2 }).layers[2], { ...masked, density: 2 });
});

test("groups lie in groups, four deep", () => {
  const list = [A, group(B, group(C, D)), D],
    inner = group(group(A));
  assert.equal(text(grouped(list, [1, 1])), "A(B((CD)))D");
  assert.equal(text(ungrouped(list, [1, 1])), "A(BCD)D");
  assert.equal(text(without(list, [1, 1, 0])), "A(B(D))D");
  assert.equal(text(without([group(group(A)), B], [0, 0, 0])), "B"); // both groups end
  const up = (layers, path) => text(moved(layers, path, 1).layers),
    down = (layers, path) => text(moved(layers, path, -1).layers);
  assert.equal(up(list, [1, 0]), "A((BCD))D");
  assert.equal(up(list, [1, 1, 1]), "A(B(C)D)D");
  assert.equal(up(list, [1, 1]), "A(B)(CD)D");
  assert.equal(down(list, [1, 1, 0]), "A(BC(D))D");
  assert.equal(down([A, group(B)], [1]), "(B)A");
  assert.equal(text(moved([group(A), group(B)], [1], -1).layers), "(A(B))"); // a group goes into a group
  const after = (layers, from, to) => text(dropped(layers, from, to).layers);
  assert.equal(after(list, [2], [1, 1]), "A(B(CDD))");
  assert.equal(after(list, [1, 1], [0]), "A(CD)(B)D");
  assert.equal(after(list, [1], [1, 1]), text(list)); // no group is in itself
  assert.equal(after([inner, group(group(B))], [0], [1, 0]), "((B((A))))");
  const deep = group(group(group(A)));
  assert.equal(after([deep, group(group(B))], [0], [1, 0]), "(((A)))((B))"); // too deep
  assert.ok(canGroup([deep], [0]));
  assert.ok(!canGroup([group(deep)], [0]));
  assert.ok(!canGroup([group(deep)], [0, 0, 0, 0, 0]));
  const color = { coloring: "base", layers: list };
  assert.deepEqual(
    paintsOf(color).map(({ path }) => path.join()),
    ["", "0", "1,0", "1,1,0", "1,1,1", "2"],
  );
  assert.deepEqual(
    paintsOf(color).map(({ overs }) => overs.length),
    [0, 0, 1, 2, 2, 0],
  );
  assert.equal(changed(color, 4, { density: 2 }).layers[1].layers[1].layers[1].density, 2);
});

test("layers of one coloring are told apart by their numbers, and others need none", () => {
  const names = (/** @type {any[]} */ ...layers) =>
    layerNames(paintsOf({ coloring: "smooth", layers }));
  const [smooth, slopes, near] = ["smooth", "slopes", "distance"].map((coloring) => ({ coloring }));
  assert.deepEqual(names(smooth, near), ["Smooth", "Smooth", "Distance"]);
  assert.deepEqual(names(slopes, near, slopes), ["Smooth", "Slopes 1", "Distance", "Slopes 3"]);
  assert.deepEqual(names(near, group(slopes, slopes)), [
    "Smooth",
    "Distance",
    "Slopes 2",
    "Slopes 3",
  ]);
});
