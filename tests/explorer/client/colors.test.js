import assert from "node:assert/strict";
import { test } from "node:test";

import {
  gradient,
  paletteTitle,
  shownPalette,
  tableOf,
} from "../../../fractals/explorer/client/panels/colors.js";
import {
  hexOf,
  mixed,
  moved,
  partsOf,
  reversed,
} from "../../../fractals/explorer/client/panels/stops.js";

const catalog = {
  palettes: [
    { name: "gray", title: "Gray", cyclic: false, stops: ["#000000", "#808080", "#ffffff"] },
  ],
  colorings: [{ name: "slopes", palette: "gray" }],
};

test("a palette is a name, a list or a table, and its stops have places", () => {
  const stops = [
    [0, "#000000"],
    [0.5, "#808080"],
    [1, "#ffffff"],
  ];
  assert.deepEqual(tableOf("gray", catalog), { stops, cyclic: false });
  assert.deepEqual(tableOf(["#000000", "#ffffff"], catalog), {
    stops: [
      [0, "#000000"],
      [0.5, "#ffffff"],
    ],
    cyclic: true,
  });
  const table = { stops: [[0.25, "red"]], cyclic: false, space: "oklch", title: "Mine" };
  assert.deepEqual(tableOf(table, catalog), {
    stops: [[0.25, "red"]],
    cyclic: false,
    space: "oklch",
  });
  assert.equal(paletteTitle(table, catalog), "Mine");
  assert.equal(paletteTitle("gray", catalog), "Gray");
  assert.equal(shownPalette({ coloring: { name: "slopes" }, palette: "auto" }, catalog), "gray");
});

test("a cyclic gradient goes on beyond both ends", () => {
  assert.equal(
    gradient(["#000000", "#ffffff"], catalog),
    "linear-gradient(to right in oklab, #ffffff -50.000%, #000000 0.000%, #ffffff 50.000%, #000000 100.000%)",
  );
});

test("colors are typed as CSS has them, and brought into sRGB with their hue", () => {
  assert.deepEqual(
    ["#f00", "RED", " #FF0000 ", "rgb(255 0 0)", "hsl(0 100% 50%)"].map(hexOf),
    Array(5).fill("#ff0000"),
  );
  assert.deepEqual(["", "#12", "nothing", "oklch(one)"].map(hexOf), ["", "", "", ""]);
  const [l, , h] = partsOf(hexOf("oklch(0.7 0.4 140)"), [0, 0, 0]);
  assert.ok(Math.abs(l - 0.7) < 0.02, `lightness ${l}`);
  assert.ok(Math.abs(h - 140) < 5, `hue ${h}`);
});

test("a gray keeps the hue that was set, another color has its own", () => {
  assert.equal(partsOf("#808080", [0.2, 0.1, 77])[2], 77);
  const tuned = [0.7, 0.0003, 200];
  assert.equal(partsOf(hexOf("oklch(0.7 0.0003 200)"), tuned), tuned);
  assert.ok(Math.abs(partsOf("#ff0000", tuned)[2] - 29.2) < 0.1);
});

test("a new stop has the color that the palette has there", () => {
  const table = {
    stops: [
      [0.2, "#000000"],
      [0.6, "#ffffff"],
    ],
    cyclic: true,
    space: "srgb",
  };
  assert.equal(mixed(table, 0.4), "#808080");
  assert.equal(mixed(table, 0.9), "#808080"); // on the way back to the first
  assert.equal(mixed(table, 0.1), mixed(table, 1.1)); // the same place, one turn on
  assert.equal(mixed({ ...table, cyclic: false }, 0.9), "#ffffff");
  assert.equal(mixed({ ...table, cyclic: false }, 0.1), "#000000");
});

test("stops are moved and reversed in order", () => {
  const table = {
    stops: [
      [0, "a"],
      [0.25, "b"],
      [0.5, "c"],
    ],
    cyclic: true,
  };
  assert.deepEqual(moved(table, 0, 0.3), [
    {
      ...table,
      stops: [
        [0.25, "b"],
        [0.3, "a"],
        [0.5, "c"],
      ],
    },
    1,
  ]);
  assert.deepEqual(moved(table, 2, 7)[0].stops.at(-1), [1, "c"]);
  assert.deepEqual(reversed(table).stops, [
    [0, "a"],
    [0.5, "c"],
    [0.75, "b"],
  ]);
  assert.deepEqual(reversed(reversed(table)), table);
  assert.deepEqual(table.stops[0], [0, "a"]); // the scene's own table is untouched
});
