/** Colors for controls: OKLCH and hexadecimal text, palettes as CSS gradients. */

const clip = (value) => Math.min(1, Math.max(0, value));
const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const encoded = (value) => (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055);

/** Return [lightness, chroma, hue in degrees] of "#rrggbb" or "oklch(L C H)". After Ottosson (2020). */
export function oklch(text) {
  const given = /^oklch\(\s*([\d.]+)(%?)\s+([\d.]+)\s+(-?[\d.]+)/.exec(text);
  if (given) return [Number(given[1]) / (given[2] ? 100 : 1), Number(given[3]), Number(given[4])];
  const [r, g, b] = [1, 3, 5].map((at) => linear(parseInt(text.slice(at, at + 2), 16) / 255));
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  const a = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s;
  const c = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s;
  const hue = (Math.atan2(c, a) * 180) / Math.PI;
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, Math.hypot(a, c), (hue + 360) % 360];
}

/** Return "#rrggbb" of an OKLCH color; channels beyond sRGB are clipped. */
export function hex([lightness, chroma, hue]) {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const rgb = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return `#${rgb.map((value) => Math.round(255 * clip(encoded(clip(value)))).toString(16).padStart(2, "0")).join("")}`;
}

/** Return the stops of a palette, name or table or list, as [place, color] in rising order. */
export function stopsOf(palette, catalog) {
  const found = typeof palette === "string" ? catalog.palettes.find(({ name }) => name === palette) : palette;
  const given = Array.isArray(found) ? found : (found?.stops ?? ["#000000", "#ffffff"]);
  const cyclic = found?.cyclic ?? true;
  const count = cyclic ? given.length : Math.max(1, given.length - 1);
  return given.map((stop, index) => (Array.isArray(stop) ? [stop[0], stop[1]] : [index / count, stop]));
}

/** Return a CSS gradient of a palette from left to right, mixed in the palette's own space. */
export function gradient(palette, catalog, stops = stopsOf(palette, catalog)) {
  const table = typeof palette === "string" ? catalog.palettes.find(({ name }) => name === palette) : palette;
  const space = table?.space === "oklch" ? "oklch shorter hue" : (table?.space ?? "oklab");
  const all = [...stops];
  if (table?.cyclic ?? true) {
    const [first, last] = [stops[0], stops.at(-1)];
    all.unshift([last[0] - 1, last[1]]);
    all.push([first[0] + 1, first[1]]);
  }
  if (all.length < 2) all.push(all[0]);
  return `linear-gradient(to right in ${space}, ${all.map(([place, color]) => `${color} ${(100 * place).toFixed(3)}%`).join(", ")})`;
}

/** Return the palette that a paint shows: "auto" is its coloring's own. */
export function shownPalette(paint, catalog) {
  if (paint.palette && paint.palette !== "auto") return paint.palette;
  return coloringOf(paint, catalog)?.palette ?? "lagoon";
}

export function coloringOf(paint, catalog) {
  const name = paint.coloring?.name ?? paint.coloring ?? "smooth";
  return catalog.colorings.find((coloring) => coloring.name === name);
}

/** Return a name for people. */
export function paletteTitle(palette, catalog) {
  if (typeof palette !== "string") return palette?.title || "Your own";
  return catalog.palettes.find(({ name }) => name === palette)?.title ?? palette;
}
