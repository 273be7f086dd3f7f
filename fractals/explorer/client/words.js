/**
 * The words of the page, in one table for each language: `words/en.js`, `words/de.js`, `words/zh.js`.
 *
 * A page speaks one language: that of its address (?language=de), or the one that was chosen, or else the browser's. Another
 * one loads the page again. Names and
 * meanings of the catalog and of a scene's keys, and some of what the server says of problems, stay English, as files and the command
 * line have them.
 */
import { kept } from "./state.js";
import * as en from "./words/en.js";

/** @typedef {keyof typeof en.texts} Key */
/** @typedef {"en"|"de"|"zh"} Language */

/** What each language calls itself. @type {[Language, string][]} */
export const LANGUAGES = [
  ["en", "English"],
  ["de", "Deutsch"],
  ["zh", "中文"],
];

/** Return the first language of a list, such as a browser's, that has a table. @param {readonly string[]} wanted @returns {Language} */
export function languageOf(wanted) {
  for (const each of wanted) {
    const [found] = LANGUAGES.find(([name]) => each.toLowerCase().split("-")[0] === name) ?? [];
    if (found) return found;
  }
  return "en";
}

/** The language of the page. */
export const language = languageOf(
  globalThis.document
    ? [
        new URLSearchParams(location.search).get("language") ?? "",
        kept.get("language", ""),
        ...navigator.languages,
      ]
    : [], // tests in Node speak English
);
/** @type {{texts: Record<Key, string>, names: Record<string, string>}} */
const { texts, names } =
  language === "en" ? en : await import(`./words/${language}.js`).catch(() => en);

/** Speak another language, in a page that is loaded again; its address has the language where the browser keeps nothing.
 * @param {Language} chosen */
export function speak(chosen) {
  const address = new URL(location.href);
  if (kept.set("language", chosen)) address.searchParams.delete("language");
  else address.searchParams.set("language", chosen);
  if (address.href !== location.href) history.replaceState(history.state, "", address);
  location.reload();
}

/** Return a text with values in its braces. @param {string} text @param {Record<string, string|number>} values */
const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

/** Return a text of the table. @param {Key} key @param {Record<string, string|number>} [values] what stands in its braces */
export const say = (key, values = {}) => filled(texts[key], values);

/** Return a function as `say`, of texts that a first visit does not need. @param {Record<string, [string, string, string]>} table
 * English, German, Chinese @returns {(key: string, values?: Record<string, string|number>) => string} */
export const sayOf =
  (table) =>
  (key, values = {}) =>
    filled(table[key][LANGUAGES.findIndex(([name]) => name === language)], values);

/** Return a name of a scene's key, or of its value, for people: "soft_light" -> "Soft light". @param {string} name */
export function words(name) {
  if (Object.hasOwn(names, name)) return names[name];
  const text = String(name).replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Return a text as it stands within another one: English has a small letter there. @param {string} text */
export const within = (text) => (language === "en" ? text.toLowerCase() : text);

const VALUES = /'[^']*'|-?\d[\d.]*(?:e[+-]?\d+)?/g; // names and numbers in a line

/** Return a line of the server about its work, or about what a program lacks: "quality 12 of 40". @param {string} line */
export const ofServer = (line) => withValues(line, names);

/** Return a line in the words of a table, whose `#` are its names and numbers. @param {string} line @param {Record<string, string>} table */
export function withValues(line, table) {
  const values = line.match(VALUES) ?? [],
    found = table[line.replace(VALUES, "#")];
  return found ? found.replace(/#/g, () => values.shift() ?? "") : line;
}

/** Return the key of a name or a text of the page. @param {string} text @returns {string|undefined} */
export const keyOf = (text) =>
  Object.keys(names).find((each) => names[each] === text) ??
  Object.keys(texts).find((each) => texts[/** @type {Key} */ (each)] === text);

/** Return a number with the marks of the language. @param {number} value @param {Intl.NumberFormatOptions} [how] */
export const number = (value, how) => value.toLocaleString(language, how);
