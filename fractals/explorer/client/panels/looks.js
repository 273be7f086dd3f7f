/** Looks: presets over the colors of any scene. They replace its layers, and keep its coloring. */
import { say } from "../words.js";
import { shownPalette, tableOf } from "./colors.js";
import { mixed } from "./stops.js";

const FLAT = 5; // colors of a poster
const EDGE = 0.0005; // of the palette, between two flat colors

const SLOPES = /** @type {Paint} */ ({ coloring: "slopes", palette: "auto", blend: "soft_light" });
const INK = /** @type {Paint} */ ({ coloring: "distance", palette: "ink", blend: "multiply" });

/** Return a palette of few flat colors out of another one. @param {StopTable} table @param {number} [count] */
export function flat(table, count = FLAT) {
  const stops = /** @type {Stop[]} */ ([]);
  for (let k = 0; k < count; k++) {
    const color = mixed(table, (k + 0.5) / count);
    stops.push(
      [round(k / count + (k && EDGE)), color],
      [round((k + 1) / count - (k < count - 1 ? 0 : EDGE)), color],
    );
  }
  return { stops, cyclic: table.cyclic, title: say("poster") };
}

const round = (/** @type {number} */ place) => Math.round(1e5 * place) / 1e5;

/** Return the looks of a table of colors: {id, title, change}. @param {Color} color @param {Received.Catalog} catalog */
export function looksOf(color, catalog) {
  const { layers: _, ...base } = color,
    looks = /** @type {[string, string, Paint[]][]} */ ([
      ["plain", say("plain"), []],
      ["light", say("light"), [{ ...SLOPES, opacity: 0.95 }]],
      ["relief", say("relief"), [{ ...SLOPES, blend: "overlay", opacity: 0.7 }]],
      ["ink", say("ink"), [{ ...INK, opacity: 0.75 }]],
      [
        "engraving",
        say("engraving"),
        [
          { coloring: "field_lines", palette: "ink", blend: "soft_light", opacity: 0.55 },
          { ...INK, opacity: 0.5 },
        ],
      ],
    ]).map(([id, title, layers]) => ({ id, title, change: { color: { ...base, layers } } }));
  const palette = flat(tableOf(shownPalette(color, catalog), catalog));
  return [
    ...looks,
    {
      id: "poster",
      title: say("poster"),
      change: { color: { ...base, palette, layers: [{ ...INK, opacity: 0.9 }] } },
    },
  ];
}
