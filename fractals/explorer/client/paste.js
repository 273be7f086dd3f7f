/** What a pasted text means: a link, a scene, a file of another program, or a place. */
import { nameOf } from "./points.js";
import { say } from "./words.js";
import { plainOf, powerOfTwo, typeset } from "./written.js";

const NUMBER = /[+-]?\s?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/gi;
const GROUPED = /(?<![\d.,])[1-9]\d{0,2}(?:[,'’_]\d{3})+(?![\d,])/g; // 1,000,000
const DOTTED = /(?<![\d.,])[1-9]\d{0,2}(?:\.\d{3}){2,}(?![\d.])/g; // 1.000.000
const WORDS =
  /^(?:\b(?:re|im|real|imag|imaginary|part|center|centre|zoom|mag|magn|magnification|width|iter|iters|iterations|maxiter|location|complex|x|y|c|i|j|at|and)\b|[\s,;:=&()[\]{}@/|*+"'-])*$/i;
const LABEL = /\b[a-z]+\b/gi;
const IMAGINARY = /([+-])\s*[ij]\s*[*·]?\s*(?=\.?\d)/gi; // "- i0.5"
/** What a word before a number says that it is; "": nothing that a place needs. @type {Record<string, string>} */
const KINDS = {
  ...{ re: "re", real: "re", x: "re", im: "im", imag: "im", imaginary: "im", y: "im" },
  ...{ zoom: "zoom", mag: "zoom", magn: "zoom", magnification: "zoom", width: "width" },
  ...{ iter: "", iters: "", iterations: "", maxiter: "" },
};

/** Lines of an entry of Ultra Fractal or Fractint. */
const PARAMETERS =
  /^\s*(?:center|magn|angle|center-mag|corners|type|passes|maxiter|params)=[^\s"[{]+(?:\s+[\w-]+=\S+)*\s*$/i;
const WHOLE = 4.6; // the width of the whole set in the plane

/**
 * Return the keys of an `open` message for a text, a `view`, or `file`: a name under which the server reads the text.
 * A place is "re im", "re im zoom" or "re, im, width 1e-5"; a third number below 1 is a width.
 * @param {string} text @returns {{link?: string, toml?: string, file?: string, view?: Place, wrong?: string}|null} null: it
 * means nothing; `wrong`: what to paste instead
 */
export function meaningOf(text) {
  const given = typeset(text);
  const link = /^(?:\S*#)?(eN[\w-]{20,})$/.exec(given); // how deflated text begins, in base64
  if (link) return { link: link[1] };
  if (/^Re *:/m.test(given) && /^Im *:/m.test(given)) return { file: "pasted.kfr" };
  const elsewhere = siteOf(text.trim());
  if (elsewhere) return { toml: elsewhere };
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

/** Return the scene, as TOML, that a link of Mandelbrot.site shows, or "". Its z counts octaves, and is 3 for the whole set. */
function siteOf(/** @type {string} */ text) {
  if (!/^https?:\/\/(?:www\.)?mandelbrot\.site\/\S*$/i.test(text) || !URL.canParse(text)) return "";
  const asked = new URL(text).searchParams,
    [re, im, z, power] = ["re", "im", "z", "e"].map((name) => asked.get(name) ?? ""),
    octaves = Number(z || NaN) - 3;
  if (![re, im].every((part) => plainOf(part)) || !Number.isFinite(octaves)) return "";
  const formula =
      /^\d+$/.test(power) && power !== "2"
        ? `{ name = "multibrot", power = ${power} }`
        : '"mandelbrot"',
    width = powerOfTwo(Math.log2(WHOLE) - octaves);
  return `formula = ${formula}\n[view]\ncenter = ["${plainOf(re)}", "${plainOf(im)}"]\nwidth = "${width}"\n`;
}

/** Return the name of a file of another program that has this text, or "". */
function fileOf(/** @type {string} */ text) {
  if (/^(?:;.*\s+)*\(/.test(text) && /\(view\s+[-\d.]/.test(text)) return "pasted.xpf";
  if (/^\s*(?:program\s*=\s*"fraktaler-3"|\[location\]|location\.\w+\s*=)/m.test(text))
    return "pasted.toml";
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

/** Return the place of a text: numbers with words before them are what these say, others are "re im size". */
function placeOf(/** @type {string} */ given) {
  const text = given.replace(IMAGINARY, "$1").replace(/center-mag/i, "center");
  if (!WORDS.test(text.replace(NUMBER, " "))) return null;
  const found = [...text.matchAll(NUMBER)],
    ends = found.map((each) => each.index + each[0].length),
    kinds = found.map(({ index }, k) => kindOf(text.slice(k ? ends[k - 1] : 0, index))),
    after = kindOf(text.slice(ends.at(-1) ?? 0)) !== undefined; // words follow their numbers
  const place = /** @type {Record<string, string>} */ ({}),
    rest = /** @type {string[]} */ ([]);
  for (const [k, [number]] of found.entries()) {
    const plain = number.replace(/[\s+]+(?=[\d.])|^\+/g, ""),
      kind = after ? undefined : kinds[k];
    if (kind === undefined) rest.push(plain);
    else if (kind in place) return null;
    else place[kind] = plain;
  }
  const { re = rest.shift(), im = rest.shift(), zoom, width } = place,
    [size, more] = rest;
  if (re === undefined || im === undefined || more || (size && (zoom || width))) return null;
  if ([size, zoom, width].some((each) => each?.startsWith("-"))) return null;
  const small = width ?? (size && (Number(size) < 1 || /width/i.test(text)) ? size : undefined),
    large = zoom ?? size;
  return { center: [re, im], ...(small ? { width: small } : large && { zoom: large }) };
}

/** Return what the last word of a text says about the number that follows it; undefined: nothing. */
function kindOf(/** @type {string} */ text) {
  const words = text.match(LABEL) ?? [];
  return words.map((word) => KINDS[word.toLowerCase()]).findLast((kind) => kind !== undefined);
}
