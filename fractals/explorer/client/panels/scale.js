/** The scale of a picture in numbers and in words: sizes of two things in the ratio of the zoom. */

/** log10 of the ratio, and the pair; sizes in meters from textbooks, rounded to half a decade. @type {[number, string][]} */
const PAIRS = [
  [0.3, "a close look"],
  [1, "a hand beside a child"],
  [2, "a mouse beside an elephant"],
  [3, "a ladybird beside a bus"],
  [4, "a coin beside the Eiffel Tower"],
  [5, "a bee beside a mountain"],
  [6, "a grain of sand beside a skyscraper"],
  [7, "a person beside the Earth"],
  [8, "an orange beside the Earth"],
  [9, "a person beside the Sun"],
  [10, "a grain of salt beside the Earth"],
  [11, "a person beside the orbit of the Earth"],
  [12, "a blood cell beside the Earth"],
  [13, "a person beside the orbit of Neptune"],
  [14, "an apple beside the orbit of Neptune"],
  [15, "an ant beside the orbit of Neptune"],
  [16, "a person beside a light-year"],
  [17, "a hydrogen atom beside the Earth"],
  [18, "a coin beside a light-year"],
  [19, "a hydrogen atom beside the Sun"],
  [20, "a grain of sand beside the way to the nearest star"],
  [21, "a person beside the Milky Way"],
  [22, "an apple beside the Milky Way"],
  [23, "a hydrogen atom beside the orbit of Neptune"],
  [24, "a grain of sand beside the Milky Way"],
  [26, "a house beside the observable universe"],
  [27, "a person beside the observable universe"],
  [28, "an apple beside the observable universe"],
  [29, "a bee beside the observable universe"],
  [30, "a grain of sand beside the observable universe"],
  [31, "a hydrogen atom beside the Milky Way"],
  [32, "a blood cell beside the observable universe"],
  [34, "a virus beside the observable universe"],
  [37, "a hydrogen atom beside the observable universe"],
  [42, "a proton beside the observable universe"],
  [62, "the Planck length beside the observable universe"],
];
const UNIVERSE = 36.9; // decades from a hydrogen atom to the observable universe

/** Return words for a zoom of 2^octaves. */
export function scaleWords(/** @type {number} */ octaves) {
  const decades = octaves * Math.log10(2);
  if (decades < 0.3) return decades > -0.3 ? "the whole set" : "from far away";
  if (decades >= 2 * UNIVERSE)
    return `from the universe to an atom, ${Math.floor(decades / UNIVERSE)} times over`;
  return PAIRS.findLast(([at]) => at <= decades + 0.31)?.[1] ?? PAIRS[0][1];
}

/** @type {Record<string, string>} */
const RAISED = {
  "-": "⁻",
  0: "⁰",
  1: "¹",
  2: "²",
  3: "³",
  4: "⁴",
  5: "⁵",
  6: "⁶",
  7: "⁷",
  8: "⁸",
  9: "⁹",
};

/** Return decimal text for people: "42", "3.2 × 10¹²". */
export function decimal(/** @type {string} */ text, digits = 3) {
  const [, mantissa, exponent] = /^([^e]*)(?:e([+-]?\d+))?$/i.exec(String(text)) ?? [];
  if (mantissa === undefined) return String(text);
  const number = Number(mantissa);
  if (number === 0) return "0";
  const shift = Math.floor(Math.log10(Math.abs(number)));
  const power = Number(exponent ?? 0) + shift;
  if (Math.abs(power) < 4)
    return String(Number((number * 10 ** (power - shift)).toPrecision(digits)));
  const head = Number((number / 10 ** shift).toPrecision(digits));
  return `${head} × 10${[...String(power)].map((sign) => RAISED[sign]).join("")}`;
}

/** Return text as "3.2e12", for screen readers. */
export function spoken(/** @type {string} */ text) {
  const [, mantissa, exponent] = /^([^e]*)(?:e([+-]?\d+))?$/i.exec(String(text)) ?? [];
  if (mantissa === undefined) return String(text);
  const shift = Math.floor(Math.log10(Math.abs(Number(mantissa))));
  const power = Number(exponent ?? 0) + shift;
  const head = Number((Number(mantissa) / 10 ** shift).toPrecision(2));
  return Math.abs(power) < 4
    ? String(Number((head * 10 ** power).toPrecision(2)))
    : `${head}e${power}`;
}
