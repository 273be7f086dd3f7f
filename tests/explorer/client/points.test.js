import assert from "node:assert/strict";
import { test } from "node:test";

import { apply, compose, inverse } from "../../../fractals/explorer/client/frames.js";
import {
  cornersOf,
  displayOf,
  dome,
  dragged,
  onDome,
  ORIGIN,
  qualityOf,
  transformsOf,
  UNIT,
  withTransform,
} from "../../../fractals/explorer/client/points.js";

const AFFINE = [0.6, -0.64, 0.25, 0.64, 0.6, 0.5];
const near = (one, other) =>
  one
    .flat()
    .forEach((part, k) =>
      assert.ok(Math.abs(part - other.flat()[k]) < 2e-6, `${one} and ${other}`),
    );

test("a triangle's corners are where its map takes the unit vectors", () => {
  const [a, b, c, d, e, f] = AFFINE,
    map = [a, b, d, e, c, f];
  near(cornersOf(AFFINE), [apply(map, [0, 0]), apply(map, [1, 0]), apply(map, [0, 1])]);
  assert.deepEqual(cornersOf(UNIT), [
    [0, 0],
    [1, 0],
    [0, 1],
  ]);
});

test("a dragged corner lies where it was dragged to, and the others stay", () => {
  for (const corner of [1, 2]) {
    const made = cornersOf(dragged(AFFINE, corner, [0.3, -0.7])),
      before = cornersOf(AFFINE);
    near(made.with(corner, before[corner]), before);
    near([made[corner]], [[0.3, -0.7]]);
  }
});

test("with its first corner the whole triangle moves", () => {
  const made = cornersOf(dragged(AFFINE, ORIGIN, [2, 3])),
    before = cornersOf(AFFINE);
  near(
    made,
    before.map(([x, y]) => [x + 2 - 0.25, y + 3 - 0.5]),
  );
});

test("with Shift a triangle keeps its shape, and its corner follows", () => {
  for (const corner of [1, 2]) {
    const made = dragged(AFFINE, corner, [1.5, 0.1], true),
      [p, q, , r, s] = made,
      [a, b, , d, e] = AFFINE;
    near([cornersOf(made)[corner]], [[1.5, 0.1]]);
    const ratio = (p * s - q * r) / (a * e - b * d),
      grown = (p * p + r * r) / (a * a + d * d);
    assert.ok(Math.abs(ratio - grown) < 1e-4);
    assert.ok(Math.abs((p * q + r * s) / grown - (a * b + d * e)) < 1e-4); // the angle between the sides
  }
  assert.deepEqual(dragged([0, 0, 1, 0, 0, 1], 1, [5, 5], true), [0, 0, 1, 0, 0, 1]); // no shape to keep
});

test("a drag on a turned and moved picture ends under the pointer", () => {
  const plane = compose([300, 80, 90, -310, 400, 250], [0.5, 0, 0, 0.5, 12, -7]),
    pointer = [123, 77];
  const made = dragged(AFFINE, 2, apply(inverse(plane), pointer));
  const [x, y] = apply(plane, cornersOf(made)[2]);
  assert.ok(Math.hypot(x - 123, y - 77) < 0.01);
});

test("transforms are those of the scene, or the formula's usual ones, and a change leaves the others", () => {
  const known = { tables: { transforms: [{ color: 0 }, { color: 1 }] } };
  assert.deepEqual(
    transformsOf({ name: "flame" }, known).map(([key, , name]) => [key, name]),
    [
      [0, "1"],
      [1, "2"],
    ],
  );
  const made = withTransform({ name: "flame" }, known, 1, { weight: 3 });
  assert.deepEqual(made, { name: "flame", transforms: [{ color: 0 }, { color: 1, weight: 3 }] });
  const final = { name: "flame", transforms: [{}], final: { variations: { linear: 1 } } };
  assert.equal(transformsOf(final, known).at(-1)[2], "Final");
  assert.deepEqual(withTransform(final, known, "final", { color: 1 }).final, {
    variations: { linear: 1 },
    color: 1,
  });
});

test("a display has the scene's values, and those of the schema", () => {
  const schema = {
    $defs: { Display: { properties: { gamma: { default: 4 }, vibrancy: { default: 1 } } } },
  };
  assert.deepEqual(displayOf({ display: { gamma: 2 } }, schema), { gamma: 2, vibrancy: 1 });
  assert.deepEqual(displayOf({}, schema), { gamma: 4, vibrancy: 1 });
});

test("the sky's dome and directions are inverse to each other", () => {
  const space = { position: [3, -4, 1], target: [0, 0, 0] };
  for (const at of [
    [0.2, -0.5],
    [-0.7, 0.1],
    [0, -0.75],
  ]) {
    const found = onDome(dome(at, space), space);
    found.forEach((part, k) => assert.ok(Math.abs(part - at[k]) < 1e-3));
  }
  const ahead = dome([0, -0.75], space); // the horizon, at the top
  assert.ok(Math.abs(ahead[2]) < 1e-3 && ahead[0] < 0 && ahead[1] > 0);
  assert.deepEqual(onDome([0, 0, 1], space).map(Math.abs), [0, 0]);
});

test("a quality in words is shown as points for each pixel", () => {
  assert.equal(qualityOf({}, "clifford"), 50);
  assert.equal(qualityOf({ quality: "draft" }, "flame"), 5);
  assert.equal(qualityOf({ quality: "best" }, "buddhabrot"), 100);
  assert.equal(qualityOf({ quality: 7 }, "buddhabrot"), 7);
});
