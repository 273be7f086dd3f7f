/** Children of two scenes: each has the place of one, and colors of both. */

const PLACE = { formula: "mandelbrot", julia: null, view: {}, iteration: {} }; // keys of a place, and what they are by default
const BLENDED = 0.5; // of the chance that a palette is between those of the parents

/**
 * Return scenes, as keys that replace those of another, without equal ones.
 * @param {WholeScene} one @param {WholeScene} other @param {number} count @param {() => number} random from 0 to 1
 * @param {(one: Color, other: Color) => Palette} between a palette between two
 */
export function children(one, other, count, random, between) {
  const pick = () => (random() < 0.5 ? one : other),
    found = new Map();
  for (let tries = 0; tries < 20 * count && found.size < count; tries++) {
    const place = pick(),
      look = pick(),
      palette = random() < BLENDED ? between(one.color, other.color) : pick().color.palette;
    const layers =
      random() < 0.25
        ? [...(one.color.layers ?? []), ...(other.color.layers ?? [])].slice(0, 4)
        : (pick().color.layers ?? []);
    const color = { ...look.color, palette, layers, offset: Math.round(1000 * random()) / 1000 };
    const child = { ...placeOf(place), color };
    found.set(JSON.stringify(child), child);
  }
  return [...found.values()];
}

const placeOf = (/** @type {Scene} */ scene) =>
  Object.fromEntries(
    Object.entries(PLACE).map(([key, missing]) => [
      key,
      scene[/** @type {keyof typeof PLACE} */ (key)] ?? missing,
    ]),
  );
