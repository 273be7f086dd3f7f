/** Children of two scenes: each has the place of one, and colors of both; of two flames, transforms of both. */

const SAID = ["version", "title", "author", "rights", "note", "image"]; // keys that no parent hands down
const PLACE = { formula: "mandelbrot", view: {}, iteration: {} }; // keys of a place that each scene has, by default
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
    const formula = crossed(place, place === one ? other : one, random);
    const child = { ...placeOf(place, one, other), ...(formula && { formula }), color };
    found.set(JSON.stringify(child), child);
  }
  return [...found.values()];
}

/** Return all keys of a scene but the colors; null: a key of the other parent, such as a camera, that it has not.
 * @param {WholeScene} scene @param {WholeScene[]} parents @returns {Record<string, unknown>} */
function placeOf(scene, ...parents) {
  const keys = new Set(["julia", ...parents.flatMap(Object.keys)]),
    own = /** @type {Record<string, unknown>} */ ({ ...PLACE, ...scene });
  return Object.fromEntries(
    [...keys]
      .filter((key) => key !== "color" && !SAID.includes(key))
      .map((key) => [key, own[key] ?? null]),
  );
}

/** Return the formula of a flame, some of whose transforms are another flame's; null: one of the scenes is no flame.
 * @param {WholeScene} scene @param {WholeScene} other @param {() => number} random */
function crossed({ formula: own }, { formula: given }, random) {
  if (typeof own !== "object" || typeof given !== "object") return null;
  if (!own.transforms || !given.transforms) return null;
  const { transforms: others } = given;
  const transforms = own.transforms.map((each, k) => {
    const { xaos: _, ...taken } = others[k] ?? each; // its factors belong to transforms that are not here
    return k < others.length && random() < 0.5
      ? { ...taken, ...(each.xaos && { xaos: each.xaos }) }
      : each;
  });
  return { ...own, transforms };
}
