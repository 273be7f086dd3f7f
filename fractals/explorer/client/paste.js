/** What a pasted text means: a link, a scene, a file of another program, or a place. */
import { nameOf } from "./points.js";
import { say } from "./words.js";

const NUMBER = /[+-]?\s?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/gi;
const GROUPED = /(?<![\d.,])[1-9]\d{0,2}(?:[,'’_]\d{3})+(?![\d,])/g; // 1,000,000
const DOTTED = /(?<![\d.,])[1-9]\d{0,2}(?:\.\d{3}){2,}(?![\d.])/g; // 1.000.000
const WORDS =
  /^(?:\b(?:re|im|real|imag|imaginary|part|center|centre|zoom|mag|magn|magnification|width|x|y|c|i|at|and)\b|[\s,;:=()[\]{}@/|*+"'-])*$/i;

const PARAMETERS = /^\s*(?:center|magn|angle)=\S+(?:\s+\w+=\S+)+\s*$/i; // a line of an entry of Ultra Fractal

/**
 * Return the keys of an `open` message for a text, a `view`, or `file`: a name under which the server reads the text.
 * A place is "re im", "re im zoom" or "re, im, width 1e-5"; a third number below 1 is a width.
 * @param {string} text @returns {{link?: string, toml?: string, file?: string, view?: Place, wrong?: string}|null} null: it
 * means nothing; `wrong`: what to paste instead
 */
export function meaningOf(text) {
  const given = text
    .trim()
    .replaceAll("−", "-")
    .replace(/ ?[×·] ?10\^/g, "e");
  const link = /^(?:\S*#)?(eN[\w-]{20,})$/.exec(given); // how deflated text begins, in base64
  if (link) return { link: link[1] };
  if (/^Re *:/m.test(given) && /^Im *:/m.test(given)) return { file: "pasted.kfr" };
  const view = readingsOf(given).map(placeOf).find(Boolean);
  if (view) return { view };
  const other = fileOf(given);
  if (other) return { file: other };
  if (PARAMETERS.test(given)) return { wrong: say("this_is_a_part_of") };
  if (given.startsWith("{")) return { file: "pasted.json" };
  return /^[\w."]+ *= *\S/m.test(given) ? { toml: given } : null;
}

/** Return whether what is shown is no part of a plane of c: a solid, a flame, an attractor.
 * @param {Pick<import("./explorer.js").Explorer, "catalog"|"placed"|"scene">} explorer */
export function hasNoPlace({ catalog, placed, scene }) {
  const name = nameOf(scene?.formula),
    found = catalog?.formulas.find((each) => each.name === name);
  return Boolean(placed?.camera) || (found?.values === false && name !== "buddhabrot");
}

/** Return the one file that several are opened as: parameters of Ultra Fractal take the formulas beside them along.
 * @param {File[]} files @returns {File|undefined} */
export function togetherOf(files) {
  const ending = (/** @type {string} */ end) =>
    files.filter(({ name }) => name.toLowerCase().endsWith(end));
  const [first] = ending(".upr");
  return first
    ? new File([first, ...ending(".ufm").flatMap((file) => ["\n", file])], first.name)
    : files[0];
}

/** Return the name of a file of another program that has this text, or "". */
function fileOf(/** @type {string} */ text) {
  if (/^(?:<\?xml[^>]*>\s*)?<(?:flame|flames)\b/i.test(text)) return "pasted.flame";
  if (!/^(?:;.*\n\s*)*[^\s{}="][^{}="\n]*\{[^]*\}/.test(text)) return ""; // name { ... }
  if (/^\s*(?:fractal:|layer:|::)/m.test(text)) return "pasted.upr";
  if (/^\s*gradient:/m.test(text)) return "pasted.ugr";
  if (/^\s*(?:init|loop|bailout|builtin):/im.test(text)) return "pasted.ufm";
  if (/[{\s]type\s*=/i.test(text)) return "pasted.par";
  return text.includes(":") ? "pasted.frm" : "pasted.ifs";
}

/** Return a text as it may be meant, the likeliest first: "0,5; 1" with commas as points, 1,000,000 as one number. */
function readingsOf(/** @type {string} */ given) {
  const text = given.replace(DOTTED, (number) => number.replaceAll(".", ""));
  const points = text.replace(/(\d),(?=\d)/g, "$1.");
  const commas = points !== text && !/\d\.|\.\d|,\d+,\d/.test(text);
  const whole = text.replace(GROUPED, (number) => number.replace(/\D/g, ""));
  if (!commas) return [text, whole];
  return text.includes(";") ? [points, text, whole] : [text, points, whole];
}

function placeOf(/** @type {string} */ text) {
  const numbers =
    text.match(NUMBER)?.map((number) => number.replace(/[\s+]+(?=[\d.])|^\+/g, "")) ?? [];
  if (![2, 3].includes(numbers.length) || !WORDS.test(text.replace(NUMBER, " "))) return null;
  const [re, im, size] = numbers,
    small = size && (/width/i.test(text) || size.includes("e-") || Number(size) < 1);
  return { center: [re, im], ...(size && { [small ? "width" : "zoom"]: size }) };
}
