/** Lines of the server in words of the page. */
import { number, ofServer, say, words } from "./words.js";

/** What fields are called that messages of the server name by their keys. */
const FIELDS = /** @type {Record<string, string>} */ ({
  "view.center.0": say("center_real_part"),
  "view.center.1": say("center_imaginary_part"),
  "view.width": say("picture_width"),
  "size.0": say("width_in_pixels"),
  "size.1": say("height_in_pixels"),
  supersampling: say("samples_a_pixel"),
  "iteration.max_iterations": say("limit_of_iterations"),
  formula: say("formula"),
  coloring: say("coloring"),
  palette: say("palette"),
  transfer: say("transfer"),
  blend: say("blend"),
});
const LISTS = /** @type {Record<string, string>} */ ({
  formulas: say("formula"),
  variations: say("formula"),
  palettes: say("color"),
  colorings: say("color"),
  scenes: say("gallery"),
});
const KEY = /^(?:[a-z]+: )?([a-z][a-z_]*(?:\.\w+)+)(?=: )/; // of a scene or a message
const LIST = /fractals\.names\('(\w+)'\)(?: shows (?:all|which files hold one)| lists them)?/g;
const PARTS = /; (?=(?:[^']*'[^']*')*[^']*$)/; // not within what was given
const KEYWORD = /'[^']*'|\b([a-z][a-z_]+)=(?=$|[\s,;:.)])/g; // outside of what was given

/** Return what an error means, if the server tells that, or else its line in words of the page.
 * @param {Pick<Received.ErrorMessage, "message"|"code"|"key"|"limit"|"column"|"name">} error */
export function meaningOf({ message, code, key = "", limit, column, name }) {
  if (!code) return inWords(message, key);
  const value = number(limit ?? 0, { maximumSignificantDigits: 15 }),
    own = capital(nameOf(key)),
    why = say(code, { name: name || own, value });
  return column ? say("column", { name: own, column, why }) : capital(why);
}

/** Return a line of the server in words of the page, without keys of the protocol and names of Python.
 * @param {string} line @param {string} [told] a key that the line begins with */
export function inWords(line, told = "") {
  const known = ofServer(line);
  if (known !== line) return known;
  const [found, key = ""] =
    told && line.startsWith(`${told}: `) ? [told, told] : (KEY.exec(line) ?? [""]);
  const rest = found ? line.slice(found.length + 2) : line, // after ": "
    parts = rest.split(PARTS).map(ofServer).join("; ");
  const text = (found ? `${nameOf(key)}: ${parts}` : parts)
    .replace(LIST, (_, list) =>
      list in LISTS ? say("the_panel_has_all", { value: LISTS[list] }) : say("see_help"),
    )
    .replace(KEYWORD, (whole, word) => (word ? word.replaceAll("_", " ") : whole));
  return capital(text);
}

const capital = (/** @type {string} */ text) => text.charAt(0).toUpperCase() + text.slice(1);

/** @typedef {Pick<Received.Surprised, "label"|"way"|"other">} Named */
/** Return what a surprise is called: "Orchid under slopes". Names of palettes and colorings stay. @param {Named} named */
export const labelOf = ({ label: name, way, other = "" }) =>
  way ? say(way, { name, other }) : words(name);

/** Return a line of the server about a file in words of the page; the name of a pasted text says nothing.
 * @param {string} line @param {string} name */
export function ofFile(line, name) {
  if (!line.startsWith(`${name}: `)) return inWords(line);
  const rest = line.slice(name.length + 2);
  return name.startsWith("pasted.")
    ? inWords(rest)
    : say("a_file_says", { name, line: inWords(rest) });
}

/** Return what a key is called. @param {string} key */
const nameOf = (key) =>
  FIELDS[key] ?? FIELDS[key.replace(/^\w+\./, "")] ?? FIELDS[lastOf(key)] ?? words(lastOf(key));

/** Return the last word of a key that is no number: "color.layers.0.blend" -> "blend"; of a name's table, the table. */
function lastOf(/** @type {string} */ key) {
  const parts = key.split(".").filter((part) => !/^\d+$/.test(part) && part !== "name");
  return parts.at(-1) ?? "";
}
