/** Palettes for controls: their stops, CSS gradients, names. */
import { say } from "../words.js";

/** Return a palette's table; a name is looked up in the catalog, and a list holds equal steps.
 * @param {Palette} palette @param {Received.Catalog} catalog @returns {StopTable} */
export function tableOf(palette, catalog) {
  const found =
    typeof palette === "string" ? catalog.palettes.find(({ name }) => name === palette) : palette;
  const table = Array.isArray(found) ? { stops: found } : found;
  const { stops: given = ["#000000", "#ffffff"], cyclic = true } =
    /** @type {Partial<PaletteTable>} */ (table ?? {});
  const count = cyclic ? given.length : Math.max(1, given.length - 1);
  const { space, blend } = /** @type {Partial<PaletteTable>} */ (table ?? {});
  const stops = given.map(
    (stop, index) =>
      /** @type {Stop} */ (Array.isArray(stop) ? [stop[0], stop[1]] : [index / count, stop]),
  );
  return { stops, cyclic, ...(space && { space }), ...(blend && { blend }) };
}

/** Return a CSS gradient of a palette from left to right, mixed in the palette's own space. */
export function gradient(/** @type {Palette} */ palette, /** @type {Received.Catalog} */ catalog) {
  const { stops, cyclic, space = "oklab" } = tableOf(palette, catalog);
  const all = [...stops],
    [first, last] = [stops[0], stops[stops.length - 1]];
  if (cyclic) {
    all.unshift([last[0] - 1, last[1]]);
    all.push([first[0] + 1, first[1]]);
  }
  if (all.length < 2) all.push(all[0]);
  const mixed = space === "oklch" ? "oklch shorter hue" : space;
  return `linear-gradient(to right in ${mixed}, ${all.map(([place, color]) => `${color} ${(100 * place).toFixed(3)}%`).join(", ")})`;
}

export const coloringName = (/** @type {Paint} */ { coloring = "smooth" }) =>
  typeof coloring === "object" ? coloring.name : coloring;

/** Return the palette that a paint shows: "auto" is its coloring's own. */
export function shownPalette(/** @type {Paint} */ paint, /** @type {Received.Catalog} */ catalog) {
  if (paint.palette && paint.palette !== "auto") return paint.palette;
  return coloringOf(paint, catalog)?.palette ?? "lagoon";
}

export const coloringOf = (/** @type {Paint} */ paint, /** @type {Received.Catalog} */ catalog) =>
  catalog.colorings.find(({ name }) => name === coloringName(paint));

/** Return a name for people. */
export function paletteTitle(
  /** @type {Palette} */ palette,
  /** @type {Received.Catalog} */ catalog,
) {
  if (Array.isArray(palette)) return say("your_own");
  if (typeof palette !== "string") return palette?.title || say("your_own");
  return catalog.palettes.find(({ name }) => name === palette)?.title ?? palette;
}
