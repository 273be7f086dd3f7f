/** Palettes for controls: their stops, CSS gradients, names. */

/** Return a palette's table; a name is looked up in the catalog, and a list holds equal steps. */
export function tableOf(/** @type {string|Table} */ palette, /** @type {Table} */ catalog) {
  const found =
    typeof palette === "string"
      ? catalog.palettes.find((/** @type {Table} */ { name }) => name === palette)
      : palette;
  const given = Array.isArray(found) ? found : (found?.stops ?? ["#000000", "#ffffff"]);
  const cyclic = found?.cyclic ?? true;
  const count = cyclic ? given.length : Math.max(1, given.length - 1);
  const { space, blend } = found ?? {};
  const stops = given.map((/** @type {any} */ stop, /** @type {number} */ index) =>
    Array.isArray(stop) ? [stop[0], stop[1]] : [index / count, stop],
  );
  return { stops, cyclic, ...(space && { space }), ...(blend && { blend }) };
}

/** Return a CSS gradient of a palette from left to right, mixed in the palette's own space. */
export function gradient(/** @type {string|Table} */ palette, /** @type {Table} */ catalog) {
  const { stops, cyclic, space = "oklab" } = tableOf(palette, catalog);
  const all = [...stops],
    [first, last] = [stops[0], stops.at(-1)];
  if (cyclic) {
    all.unshift([last[0] - 1, last[1]]);
    all.push([first[0] + 1, first[1]]);
  }
  if (all.length < 2) all.push(all[0]);
  const mixed = space === "oklch" ? "oklch shorter hue" : space;
  return `linear-gradient(to right in ${mixed}, ${all.map(([place, color]) => `${color} ${(100 * place).toFixed(3)}%`).join(", ")})`;
}

export const coloringName = (/** @type {Table} */ paint) =>
  paint.coloring?.name ?? paint.coloring ?? "smooth";

/** Return the palette that a paint shows: "auto" is its coloring's own. */
export function shownPalette(/** @type {Table} */ paint, /** @type {Table} */ catalog) {
  if (paint.palette && paint.palette !== "auto") return paint.palette;
  return coloringOf(paint, catalog)?.palette ?? "lagoon";
}

export const coloringOf = (/** @type {Table} */ paint, /** @type {Table} */ catalog) =>
  catalog.colorings.find((/** @type {Table} */ { name }) => name === coloringName(paint));

/** Return a name for people. */
export function paletteTitle(/** @type {string|Table} */ palette, /** @type {Table} */ catalog) {
  if (typeof palette !== "string") return palette?.title || "Your own";
  return (
    catalog.palettes.find((/** @type {Table} */ { name }) => name === palette)?.title ?? palette
  );
}
