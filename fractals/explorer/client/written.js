/** Numbers as people write them, and in words what is wrong with others. */
import { number, say } from "./words.js";

const PLAIN = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const COMMA = /^[+-]?\d*,\d+(?:e[+-]?\d+)?$/i; // the decimal comma of most languages
const GROUPED = /^[+-]?[1-9]\d{0,2}(?:[,'’_\s]\d{3})+(?:\.\d*)?(?:e[+-]?\d+)?$/i; // 1,000,000.5
const DOTTED = /^[+-]?[1-9]\d{0,2}(?:\.\d{3}){2,}(?:,\d*)?$/; // 1.000.000,5
const MOST_EXPONENT = 1_000_000, // of a decimal number that the server takes
  MOST_SCALE = 20_000; // exponent of a zoom or a width

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Return 2 to a power as a decimal number, whatever its exponent. @param {number} power */
export function powerOfTwo(power) {
  const log = power * Math.log10(2),
    exponent = Math.floor(log);
  return `${Number((10 ** (log - exponent)).toPrecision(12))}${exponent ? `e${exponent}` : ""}`;
}

/** Return a text with the signs that programs read: "− 3 × 10⁵" -> "-3e5", "2^70" -> "1.18059162072e21".
 * @param {string} text */
export const typeset = (text) =>
  text
    .trim()
    .replaceAll("−", "-")
    .replace(/^([+-])\s+/, "$1")
    .replace(
      /(?<=\b10)(⁻?)([⁰¹²³⁴⁵⁶⁷⁸⁹]+)/g,
      (_, minus, digits) =>
        `^${minus && "-"}${[...digits].map((digit) => RAISED.indexOf(digit)).join("")}`,
    )
    .replace(/(?<=\d)\s*[×·*]\s*10\s?\^\s?([+-]?\d+)/g, "e$1")
    .replace(/(?<![\d.])10\s?\^\s?([+-]?\d+)/g, "1e$1")
    .replace(/(?<![\d.])2\s?\^\s?(\d{1,5})(?!\d)/g, (_, power) => powerOfTwo(Number(power)));

/** Return the number of a text as "-1000.5e3", or "". @param {string} text
 * @param {boolean} [large] whether "1,000" is a thousand, as the page writes it, and no decimal comma */
export function plainOf(text, large = false) {
  const given = typeset(text).replace(/^\+/, "");
  if (PLAIN.test(given)) return given;
  const grouped = GROUPED.test(given);
  if (COMMA.test(given) && !(large && grouped)) return given.replace(",", ".");
  if (grouped) return given.replace(/[,'’_\s]/g, "");
  return DOTTED.test(given) ? given.replaceAll(".", "").replace(",", ".") : "";
}

/** Return the power of ten of a number's first digit, about. @param {string} plain */
function exponentOf(plain) {
  const [mantissa, exponent = "0"] = plain.toLowerCase().split("e"),
    [whole] = mantissa.replace("-", "").split(".");
  return Number(exponent) + Math.max(0, whole.length - 1);
}

/** Return numbers that are right, as the page's language lists them. @param {string} such */
const examples = (such) => such.replace(" or ", say("or"));

/**
 * Return a function that reads a field of a number: `{value}`, or what is `wrong`.
 * @param {{such: string, least?: number, most?: number, positive?: boolean, exponent?: number, whole?: boolean, large?: boolean, unit?: RegExp}} kind
 * `such`: numbers that are right; `exponent`: the largest; `large`: as of `plainOf`; `unit`: what may follow the number
 * @returns {(text: string) => {value?: string, wrong?: string}} `value` has all digits
 */
export function decimalField({
  such,
  least = -Infinity,
  most = Infinity,
  positive = false,
  exponent = MOST_EXPONENT,
  whole = false,
  large = false,
  unit = /$/,
}) {
  const kind = whole ? say("a_whole_number") : say("a_number");
  const range =
    least > -Infinity
      ? say("from_to", { number: number(least), number2: number(most) })
      : positive
        ? say("above_0")
        : "";
  const wrong = say("type_such_as", { kind, range, such: examples(such) });
  return (text) => {
    const value = plainOf(text.trim().replace(unit, ""), large);
    if (!value) return { wrong };
    if (Math.abs(exponentOf(value)) > exponent) {
      const most = number(exponent);
      return { wrong: say("exponents_go_from_to", { most }) };
    }
    if (positive && (value.startsWith("-") || !/[1-9]/.test(value.split(/e/i)[0])))
      return { wrong };
    const rough = Number(value);
    if (rough < least || rough > most || (whole && !Number.isInteger(rough))) return { wrong };
    return { value };
  };
}

/** Return a function that reads a field of a number of 15 digits.
 * @param {Parameters<typeof decimalField>[0]} kind @returns {(text: string) => {value?: number, wrong?: string}} */
export function numberField(kind) {
  const read = decimalField(kind);
  return (text) => {
    const { value, wrong } = read(text);
    if (value === undefined) return { wrong };
    return Number.isFinite(Number(value))
      ? { value: Number(value) }
      : { wrong: say("type_a_smaller_number_such", { such: examples(kind.such) }) };
  };
}

/** Read a point of space: "1.5, -2, 0.8" or "1,5; -2; 0,8".
 * @param {string} text @returns {{value?: number[], wrong?: string}} */
export function pointField(text) {
  const given = typeset(text);
  const parts = given.includes(";")
    ? given.split(";")
    : given.split(/\s*,\s+|\s+/).length === 3
      ? given.split(/\s*,\s+|\s+/)
      : given.split(",");
  const value = parts.map((part) => Number(plainOf(part) || NaN));
  return value.length === 3 && value.every(Number.isFinite)
    ? { value }
    : { wrong: say("type_three_numbers_such_as") };
}

const PART = /^(\d+)\s*[x×]\s*(\d+)\s*\+\s*(\d+)\s*\+\s*(\d+)$/i;

/** Return a function that reads which part of a larger picture is drawn, such as "3840x2160+1920+0"; nothing: the whole.
 * @param {number[]} size of the part, in pixels @returns {(text: string) => {value?: string|null, wrong?: string}} */
export function partField([width, height]) {
  return (text) => {
    if (!text.trim()) return { value: null };
    const found = PART.exec(text.trim())?.slice(1).map(Number);
    if (!found) return { wrong: say("type_widthxheight_x_y_such") };
    const [across, down, x, y] = found;
    return x + width <= across && y + height <= down
      ? { value: `${across}x${down}+${x}+${y}` }
      : { wrong: say("the_part_of_x_pixels", { width, height }) };
  };
}

/** How the fields of a place are read. */
export const PLACE = {
  center: decimalField({ such: "-0.75 or 3e-6", exponent: MOST_SCALE }),
  zoom: decimalField({
    such: "250 or 1e12",
    positive: true,
    exponent: MOST_SCALE,
    large: true,
    unit: /\s*[x×]$/i,
  }),
  width: decimalField({ such: "0.01 or 3e-6", positive: true, exponent: MOST_SCALE }),
  rotation: numberField({ such: "30", least: -360, most: 360, unit: /\s*°$/ }),
};
const LIMIT = numberField({
  such: say("n5000_or_auto"),
  least: 1,
  most: 2_000_000_000,
  whole: true,
  large: true,
});
/** Read a limit of iterations; nothing is "auto". @param {string} text @returns {{value?: number|"auto", wrong?: string}} */
export const limitField = (text) =>
  /^\s*(auto)?\s*$/i.test(text) ? { value: "auto" } : LIMIT(text);
export const ANY = numberField({ such: "0.5" });
