/**
 * Children of two scenes: each has the place of one, and colors of both; of two flames, transforms of both; of two attractors or solids
 * of one formula, numbers of both. What makes points and surfaces visible goes with the colors.
 */
import { SAID } from "../credits.js";

const OWN = ["version", ...SAID, "image"]; // keys that no parent hands down
const PLACE = { formula: "mandelbrot", view: {}, iteration: {} }; // keys of a place that each scene has, by default
const BLENDED = 0.5; // of the chance that a palette is between those of the parents
const LOOKS = /** @type {const} */ (["display", "light"]); // tables that belong to colors, where both parents have them

/**
 * Return scenes, as keys that replace those of another, without equal ones.
 * @param {WholeScene} one @param {WholeScene} other @param {number} count @param {() => number} random from 0 to 1
 * @param {(one: Color, other: Color) => Palette} middle a palette between two
 */
export function children(one, other, count, random, middle) {
  const pick = () => (random() < 0.5 ? one : other),
    found = new Map();
  for (let tries = 0; tries < 20 * count && found.size < count; tries++) {
    const place = pick(),
      look = pick(),
      palette = random() < BLENDED ? middle(one.color, other.color) : pick().color.palette;
    const all =
      random() < 0.25
        ? [...(one.color.layers ?? []), ...(other.color.layers ?? [])].slice(0, 4)
        : (pick().color.layers ?? []);
    const layers = place.scatter || place.camera ? [] : all; // points and solids have none
    const color = { ...look.color, palette, layers, offset: Math.round(1000 * random()) / 1000 };
    const formula = crossed(place, place === one ? other : one, random);
    const child = {
      ...placeOf(place, one, other),
      ...looksOf(look, one, other),
      ...(formula && { formula }),
      color,
    };
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
      .filter((key) => key !== "color" && !OWN.includes(key))
      .map((key) => [key, own[key] ?? null]),
  );
}

/** Return the tables of a scene that its colors are seen by. @param {WholeScene} look @param {WholeScene[]} parents */
const looksOf = (look, ...parents) =>
  Object.fromEntries(
    LOOKS.filter((key) => parents.every((each) => each[key])).map((key) => [key, look[key]]),
  );

/** Return the formula of a scene with parts of another one's; null: they have none in common.
 * @param {WholeScene} scene @param {WholeScene} other @param {() => number} random */
function crossed({ formula: own }, { formula: given }, random) {
  if (typeof own !== "object" || typeof given !== "object") return null;
  if (own.transforms && given.transforms)
    return { ...own, transforms: transformsOf(own.transforms, given.transforms, random) };
  if (own.name !== given.name) return null;
  const numbers = Object.entries(own).map(([key, value]) => [
    key,
    typeof value === "number" && typeof given[key] === "number"
      ? between(value, given[key], random)
      : value,
  ]);
  return Object.fromEntries(numbers);
}

/** Return one of two numbers or, unless both are whole, their middle. @param {number} one @param {number} other @param {() => number} random */
function between(one, other, random) {
  const whole = Number.isInteger(one) && Number.isInteger(other),
    choice = Math.floor(random() * (whole ? 2 : 3));
  return choice < 2 ? [one, other][choice] : Number(((one + other) / 2).toPrecision(6));
}

/** Return the transforms of a flame, some of them another flame's. @param {Transform[]} own @param {Transform[]} others @param {() => number} random */
function transformsOf(own, others, random) {
  return own.map((each, k) => {
    const { xaos: _, ...taken } = others[k] ?? each; // its factors belong to transforms that are not here
    return k < others.length && random() < 0.5
      ? { ...taken, ...(each.xaos && { xaos: each.xaos }) }
      : each;
  });
}
