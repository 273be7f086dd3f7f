/** Numbers of formulas: nine values of one, another one by chance, and locks, which dice and surprises keep to. */
import { observe } from "../state.js";

const NINE = 9;
const SPREAD = 0.2; // of a number's range, to either side of it, from which dice take another value
const own = observe({ names: /** @type {string[]} */ ([]) }); // "formula number"

/** @param {string} formula @param {string} name */
export const isLocked = (formula, name) => own.names.includes(`${formula} ${name}`);

/** Lock a number, or unlock it. @param {string} formula @param {string} name */
export function toggleLock(formula, name) {
  const one = `${formula} ${name}`;
  own.names = isLocked(formula, name)
    ? own.names.filter((each) => each !== one)
    : [...own.names, one];
}

/** Return the locked numbers of a formula. @param {string} formula @returns {string[]} */
export const lockedOf = (formula) =>
  own.names
    .filter((each) => each.startsWith(`${formula} `))
    .map((each) => each.slice(formula.length + 1));

/** Return another value of a number, near it and within its range; of whole numbers another one, where there is one.
 * @param {{value: number, least: number, most: number, whole?: boolean}} range @param {() => number} [chance] from 0 to 1 */
export function another({ value, least, most, whole = false }, chance = Math.random) {
  const reach = SPREAD * (most - least),
    to = Math.min(most, Math.max(least, value + reach * (2 * chance() - 1)));
  if (!whole) return Number(to.toPrecision(4));
  const near = Math.round(to);
  return near !== value || least === most ? near : near < most ? near + 1 : near - 1;
}

/** Return values of a number from the least to the most, the one of now among them; of whole numbers each once.
 * @param {{value: number, least: number, most: number, whole?: boolean}} range @returns {number[]} */
export function nineOf({ value, least, most, whole = false }) {
  const all = Array.from({ length: NINE }, (_, k) => least + ((most - least) * k) / (NINE - 1)),
    far = all.map((each) => Math.abs(each - value)),
    near = far.indexOf(Math.min(...far)),
    rounded = all.map((each) => (whole ? Math.round(each) : Number(each.toPrecision(4))));
  return [...new Set(rounded.with(near, value))];
}
