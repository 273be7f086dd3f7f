import assert from "node:assert/strict";
import { test } from "node:test";

import { apply } from "../../../fractals/explorer/client/frames.js";
import { fitting } from "../../../fractals/explorer/client/points.js";

/** @type {any} */ (globalThis).IntersectionObserver = class {}; // of small pictures
const { variationsFor, withVariation } =
  await import("../../../fractals/explorer/client/panels/variations.js");

const KNOWN = [
  { name: "juliascope", title: "Mirrored branches" },
  { name: "wedge_julia", title: "Branches in wedges" },
  { name: "julian", title: "n branches" },
  { name: "linear", title: "No change" },
];

test("variations are found by words of their names and titles, those that begin with them first", () => {
  const names = (/** @type {string} */ wanted) =>
    variationsFor(KNOWN, wanted).map((/** @type {any} */ { name }) => name);
  assert.deepEqual(names("julia"), ["juliascope", "julian", "wedge_julia"]);
  assert.deepEqual(names("Wedge JULIA"), ["wedge_julia"]);
  assert.deepEqual(names("branches n "), ["juliascope", "wedge_julia", "julian"]);
  assert.deepEqual(names("kaleidoscope"), []);
  assert.equal(names("").length, KNOWN.length);
});

test("a variation comes with the usual values of its parameters", () => {
  const given = withVariation({ linear: 1 }, { name: "julian", parameters: { power: 2, dist: 1 } });
  assert.deepEqual(given, { linear: 1, julian: 0.5, julian_power: 2, julian_dist: 1 });
  assert.deepEqual(withVariation({}, { name: "swirl" }), { swirl: 0.5 });
});

test("points are fitted into a rectangle, as large as they can be, without a turn", () => {
  const points = [
      [-500, 20],
      [300, 4020],
      [100, 30],
    ],
    into = [400, 0, 1366, 768],
    map = fitting(points, into),
    placed = points.map((point) => apply(map, point));
  for (const [x, y] of placed) assert.ok(x >= 400 && x <= 1366 && y >= 0 && y <= 768);
  assert.deepEqual(map.slice(1, 3), [0, 0]);
  assert.equal(map[0], map[3]);
  const down = placed.map(([, y]) => y);
  assert.ok(Math.max(...down) - Math.min(...down) > 500); // of the 768, less room for bars
});
