/** Parameters of formulas that a user writes: names whose values are numbers of the scene. */
import { say } from "../words.js";

// Keys of a formula that a user writes; others are parameters.
const WRITTEN = "name step start test degree tolerance escapes repeats loop".split(" ");
const COMPLEX = /^([+-]?[\d.]+(?:e[+-]?\d+)?)([+-][\d.]+(?:e[+-]?\d+)?)[ij]$/i;
const GIVEN = /,\s*([A-Za-z_]\w*)\s*=(?!=)([^,]*)/g; // a parameter's value behind an expression

/** Return the numbers of the parameters of a formula that a user wrote: {name, text, part, value}; a complex one has two.
 * @typedef {{name: string, text: string, part: number|null, value: unknown}} Parameter
 * @param {Formula} formula @returns {(Parameter & {value: number})[]} */
export function parametersOf(formula) {
  if (typeof formula !== "object" || !["expression", "program"].includes(formula.name)) return [];
  return Object.entries(formula)
    .filter(([name]) => !WRITTEN.includes(name))
    .flatMap(([name, value]) => {
      /** @type {Parameter[]} */
      const parts = Array.isArray(value)
        ? value.map((each, part) => ({
            name,
            text: say(part ? "imaginary_of" : "real_of", { name }),
            part,
            value: each,
          }))
        : [{ name, text: name, part: null, value }];
      return parts;
    })
    .filter((each) => isNumber(each));
}

/** @param {Parameter} each @returns {each is Parameter & {value: number}} */
const isNumber = (each) => typeof each.value === "number";

/** Return the number of a text, both parts of a complex one, or the text, which the server refuses. @param {string} text */
function numberOf(text) {
  const [, real, imaginary] = COMPLEX.exec(text.replaceAll(" ", "")) ?? [],
    parts = (real ? [real, imaginary] : [text]).map(Number);
  if (!text || !parts.every(Number.isFinite)) return text;
  return parts.length > 1 ? parts : parts[0];
}

/** Return the formula of an expression, whose parameters follow it or stay those of the formula before.
 * @param {string} text @param {object} before @returns {FormulaTable} */
export function expressionOf(text, before) {
  const step = text.replace(GIVEN, "").trim(),
    words = new Set(step.match(/[A-Za-z_]\w*/g)),
    kept = Object.entries(before).filter(([key]) => !WRITTEN.includes(key) && words.has(key)),
    given = [...text.matchAll(GIVEN)].map(([, name, value]) => [name, numberOf(value.trim())]);
  return { name: "expression", step, ...Object.fromEntries([...kept, ...given]) };
}
