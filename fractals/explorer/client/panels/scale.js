/** The scale of a picture in numbers and in words: sizes of two things in the ratio of the zoom. */
import { say } from "../words.js";

/** log10 of the ratio, and the pair; sizes in meters from textbooks, rounded to half a decade. @type {[number, string][]} */
const PAIRS = [
  [0.3, say("a_close_look")],
  [1, say("a_hand_beside_a_child")],
  [2, say("a_mouse_beside_an_elephant")],
  [3, say("a_ladybird_beside_a_bus")],
  [4, say("a_coin_beside_the_eiffel")],
  [5, say("a_bee_beside_a_mountain")],
  [6, say("a_grain_of_sand_beside_a")],
  [7, say("a_person_beside_the_earth")],
  [8, say("an_orange_beside_the_earth")],
  [9, say("a_person_beside_the_sun")],
  [10, say("a_grain_of_salt_beside")],
  [11, say("a_person_beside_the_orbit_of")],
  [12, say("a_blood_cell_beside_the_earth")],
  [13, say("a_person_beside_the_orbit")],
  [14, say("an_apple_beside_the_orbit")],
  [15, say("an_ant_beside_the_orbit")],
  [16, say("a_person_beside_a_light")],
  [17, say("a_hydrogen_atom_beside_the_earth")],
  [18, say("a_coin_beside_a_light")],
  [19, say("a_hydrogen_atom_beside_the_sun")],
  [20, say("a_grain_of_sand_beside_the_way")],
  [21, say("a_person_beside_the_milky")],
  [22, say("an_apple_beside_the_milky")],
  [23, say("a_hydrogen_atom_beside_the_orbit")],
  [24, say("a_grain_of_sand_beside_the")],
  [26, say("a_house_beside_the_observable")],
  [27, say("a_person_beside_the_observable")],
  [28, say("an_apple_beside_the_observable")],
  [29, say("a_bee_beside_the_observable")],
  [30, say("a_grain_of_sand_beside")],
  [31, say("a_hydrogen_atom_beside_the_milky")],
  [32, say("a_blood_cell_beside_the")],
  [34, say("a_virus_beside_the_observable")],
  [37, say("a_hydrogen_atom_beside_the")],
  [42, say("a_proton_beside_the_observable")],
  [62, say("the_planck_length_beside_the")],
];
const WHOLE = 0.1; // decades: a zoom of 1.26, from which on the set fills more than the picture
const UNIVERSE = 36.9; // decades from a hydrogen atom to the observable universe

/** Return words for a zoom of 2^octaves. */
export function scaleWords(/** @type {number} */ octaves) {
  const decades = octaves * Math.log10(2);
  if (decades < WHOLE) return decades > -0.3 ? say("the_whole_set") : say("from_far_away");
  if (decades >= 2 * UNIVERSE)
    return say("from_the_universe_to_an", { times: Math.floor(decades / UNIVERSE) });
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
