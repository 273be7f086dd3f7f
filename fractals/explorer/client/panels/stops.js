/** Stops of a palette and their colors, as the editor changes them. */
import { interpolate, formatHex, oklch, parse, toGamut } from "../lib/culori.js";

const within = toGamut("rgb", "oklch"); // keeps lightness and hue

/** Return "#rrggbb" of a color's text, such as "red", "#f00" or "oklch(0.7 0.1 40)"; "" if it is none. */
export function hexOf(/** @type {string} */ text) {
  const color = parse(text.trim());
  return color ? formatHex(within(color)) : "";
}

/** @param {number[]} parts lightness, chroma, hue */
export const hexOfParts = ([l, c, h]) => formatHex(within({ mode: "oklch", l, c, h }));

/** Return lightness, chroma and hue of "#rrggbb": those that were set, if they are of this color. */
export function partsOf(/** @type {string} */ hex, /** @type {number[]} */ tuned) {
  if (hexOfParts(tuned) === hex) return tuned;
  const { l, c, h = tuned[2] } = oklch(hex);
  return [l, c, h];
}

/** Return the color of a table at a place, as its palette has it. */
export function mixed(
  /** @type {StopTable} */ { stops, cyclic, space = "oklab" },
  /** @type {number} */ where,
) {
  const after = stops.findIndex(([place]) => place > where);
  const high = stops[after < 0 ? (cyclic ? 0 : stops.length - 1) : after];
  const low =
    after > 0 ? stops[after - 1] : after < 0 || cyclic ? stops[stops.length - 1] : stops[0];
  const gap = (high[0] - low[0] + 1) % 1 || 1,
    share = ((where - low[0] + 1) % 1) / gap;
  return formatHex(
    within(interpolate([low[1], high[1]], space === "srgb" ? "rgb" : space)(Math.min(1, share))),
  );
}

/** Return a table with a stop at another place, and that stop's new number.
 * @param {StopTable} table @param {number} index @param {number} where @returns {[StopTable, number]} */
export function moved(table, index, where) {
  /** @type {Stop} */
  const stop = [Math.round(1e4 * Math.min(1, Math.max(0, where))) / 1e4, table.stops[index][1]];
  const stops = table.stops
    .map((each, k) => (k === index ? stop : each))
    .sort((a, b) => a[0] - b[0]);
  return [{ ...table, stops }, stops.indexOf(stop)];
}

/** Return a table with its colors from the end. @param {StopTable} table @returns {StopTable} */
export function reversed(table) {
  const stops = table.stops
    .map(
      ([where, shade]) => /** @type {Stop} */ ([table.cyclic ? (1 - where) % 1 : 1 - where, shade]),
    )
    .sort((a, b) => a[0] - b[0]);
  return { ...table, stops };
}
