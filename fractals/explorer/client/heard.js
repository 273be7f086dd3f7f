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
});
const LISTS = /** @type {Record<string, string>} */ ({
  formulas: say("formula"),
  variations: say("formula"),
  palettes: say("color"),
  colorings: say("color"),
  scenes: say("gallery"),
});
const NO_NUCLEUS = /^no nucleus\b/i; // the line goes on with options of the command line
const OF_JULIA = /^a Julia set has no nuclei\b/i;
const KEY = /^(?:[a-z]+: )?([a-z][a-z_]*(?:\.\w+)+)(?=: )/; // of a scene or a message
const BOUNDS = /** @type {[RegExp, (name: string, value: string) => string][]} */ ([
  [/^: '[^']*' is not (\S+) or less$/, (name, value) => say("takes_at_most", { name, value })],
  [/^: '[^']*' is not (\S+) or more$/, (name, value) => say("takes_at_least", { name, value })],
  [/^: '[^']*' is not less than (\S+)$/, (name, value) => say("takes_less_than", { name, value })],
  [/^: '[^']*' is not more than (\S+)$/, (name, value) => say("takes_more_than", { name, value })],
]);
const LIST = /fractals\.names\('(\w+)'\)(?: shows (?:all|which files hold one)| lists them)?/g;
const KEYWORD = /'[^']*'|\b([a-z][a-z_]+)=(?=$|[\s,;:.)])/g; // outside of what was given

/** Return a line of the server in words of the page, without keys of the protocol and names of Python. */
export function inWords(/** @type {string} */ line) {
  if (NO_NUCLEUS.test(line)) return say("no_minibrot_was_found");
  if (OF_JULIA.test(line)) return say("a_julia_set_has_no");
  const known = ofServer(line);
  if (known !== line) return known;
  const [found, key = ""] = KEY.exec(line) ?? [""];
  const name = FIELDS[key] ?? FIELDS[key.replace(/^\w+\./, "")] ?? lastOf(key);
  for (const [bound, told] of found ? BOUNDS : []) {
    const [, value] = bound.exec(line.slice(found.length)) ?? [];
    if (value) return capital(told(name, number(Number(value), { maximumSignificantDigits: 15 })));
  }
  const text = (found ? name + line.slice(found.length) : line)
    .replace(LIST, (_, list) =>
      list in LISTS ? say("the_panel_has_all", { value: LISTS[list] }) : say("see_help"),
    )
    .replace(KEYWORD, (whole, word) => (word ? word.replaceAll("_", " ") : whole));
  return capital(text);
}

const capital = (/** @type {string} */ text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Return what a surprise is called: "Orchid under slopes". Names of palettes and colorings stay.
 * @param {string} label as the server has it */
export function labelOf(label) {
  const [, what] = /^Near by: (.+)$/.exec(label) ?? [],
    [, place] = /^Near by, in (.+)$/.exec(label) ?? [],
    [, name, way, other = ""] = /^(.+?)(, by| under) (.+)$/.exec(label) ?? [];
  if (what) return say("near_by", { what });
  if (place) return say("near_by_in", { name: place });
  if (!name) return words(label);
  return way === " under"
    ? say("under_a_layer", { name, layer: other })
    : say("colored_by", { name, coloring: other });
}

/** Return a line of the server about a file in words of the page; the name of a pasted text says nothing.
 * @param {string} line @param {string} name */
export function ofFile(line, name) {
  if (!line.startsWith(`${name}: `)) return inWords(line);
  const rest = line.slice(name.length + 2);
  return name.startsWith("pasted.")
    ? inWords(rest)
    : say("a_file_says", { name, line: inWords(rest) });
}

/** Return the last word of a key that is no number: "color.layers.0.blend" -> "blend"; of a name's table, the table. */
function lastOf(/** @type {string} */ key) {
  const parts = key.split(".").filter((part) => !/^\d+$/.test(part) && part !== "name");
  return (parts.at(-1) ?? "").replaceAll("_", " ");
}
