/** Sums that are typed into fields of numbers, such as "0.7*2" or "(1 + 2)/3". */
import { say } from "./words.js";

const TOKEN =
  /\s*(?:(\d+[.,]?\d*(?:e[+-]?\d+)?|[.,]\d+(?:e[+-]?\d+)?)|(pi|π)|(\*\*|[-+−*×/÷^()]))/iy;
const MOST = 500; // numbers and signs: brackets in brackets take the browser's stack
const SAME = /** @type {Record<string, string>} */ ({ "−": "-", "×": "*", "÷": "/", "^": "**" });

/** @param {string} text @returns {(number|string)[]|null} */
function tokensOf(text) {
  const found = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; at < text.trimEnd().length; at = TOKEN.lastIndex) {
    const token = TOKEN.exec(text);
    if (!token) return null;
    const [, number, pi, sign] = token;
    if (found.length > MOST) return null;
    found.push(number ? Number(number.replace(",", ".")) : pi ? Math.PI : (SAME[sign] ?? sign));
  }
  return found;
}

/** Return the value of a sum of numbers, + − * / ** and brackets; null of another text. @param {string} text @returns {number|null} */
export function calculated(text) {
  const tokens = tokensOf(text);
  if (!tokens) return null;
  let at = 0;
  const next = (/** @type {string[]} */ ...signs) =>
    signs.includes(/** @type {string} */ (tokens[at])) ? tokens[at++] : null;
  const sum = () => {
    let value = product();
    for (let sign = next("+", "-"); sign; sign = next("+", "-"))
      value += (sign === "-" ? -1 : 1) * product();
    return value;
  };
  const product = () => {
    let value = signed();
    for (let sign = next("*", "/"); sign; sign = next("*", "/"))
      value = sign === "*" ? value * signed() : value / signed();
    return value;
  };
  /** @returns {number} */
  const signed = () => (next("-") ? -signed() : next("+") ? signed() : power());
  /** @returns {number} */
  const power = () => {
    const base = single();
    return next("**") ? base ** signed() : base;
  };
  const single = () => {
    if (next("(")) {
      const value = sum();
      return next(")") ? value : NaN;
    }
    const token = tokens[at++];
    return typeof token === "number" ? token : NaN;
  };
  const value = sum();
  return at === tokens.length && Number.isFinite(value) ? value : null;
}

/** Return a field that reads sums, too, which begin with "=". @param {(text: string) => Read} read @returns {(text: string) => Read} */
export const summed = (read) => (text) => {
  if (!/^\s*=/.test(text)) return read(text);
  const value = calculated(text.replace("=", " "));
  return value === null ? { wrong: say("type_a_sum_such_as") } : read(String(value));
};
