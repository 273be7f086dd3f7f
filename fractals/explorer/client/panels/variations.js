/** A variation to add to a transform: small pictures of this flame with each, and a search. */
import { html } from "../html.js";
import { observe } from "../state.js";
import { Section, words } from "../ui.js";
import { Previews } from "./previews.js";

const MOST = 24; // small pictures at once: a flame takes a fraction of a second each
const own = observe({ wanted: "" });

/** Return the variations that have each of the words that are searched, those that begin with them first.
 * @param {Table[]} variations of the catalog @param {string} wanted @returns {Table[]} */
export function variationsFor(variations, wanted) {
  const parts = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (/** @type {Table} */ { name, title }) => `${words(name)} ${title}`.toLowerCase();
  const found = variations.filter((each) => parts.every((part) => text(each).includes(part)));
  const begins = (/** @type {Table} */ each) => Number(text(each).startsWith(parts[0] ?? ""));
  return found.sort((one, other) => begins(other) - begins(one));
}

/** Return the keys of a transform's variations that are weights; the others are parameters.
 * @param {Table} variations @param {Table} catalog @returns {string[]} */
export function weightsOf(variations, catalog) {
  const names = catalog.variations.map((/** @type {Table} */ { name }) => name);
  return Object.keys(variations).filter((key) => names.includes(key.replace(/^(pre|post)_/, "")));
}

/** Return weights and parameters with one more variation. @param {Table} variations @param {Table} added of the catalog */
export function withVariation(variations, { name, parameters = {} }) {
  const given = Object.entries(parameters).map(([key, value]) => [`${name}_${key}`, value]);
  return { ...variations, [name]: 0.5, ...Object.fromEntries(given) };
}

/** @param {{explorer: import("../explorer.js").Explorer, tried: Table, variations: Table, change: (variations: Table) => Table, put: (variations: Table) => void}} options
 * `change`: the keys of the scene with other variations of the transform */
export function AddVariation({ explorer, tried, variations, change, put }) {
  const free = explorer.catalog.variations.filter(
    (/** @type {Table} */ { name }) => !(name in variations),
  );
  const found = variationsFor(free, own.wanted),
    shown = found.slice(0, MOST);
  const itemOf = (/** @type {Table} */ each) => ({
    id: each.name,
    title: words(each.name),
    about: each.title,
    change: change(withVariation(variations, each)),
    added: each,
  });
  const told = !found.length
    ? "No variation has these words."
    : found.length > MOST
      ? `${MOST} of ${found.length}: type words to find others.`
      : "";
  return html`<${Section} title="Add a variation" open=${false}>
    <input type="search" placeholder="Search" aria-label="Search the variations" value=${own.wanted} onInput=${(
      /** @type {Table} */ { target },
    ) => {
      own.wanted = target.value;
    }} />
    <p class="hint" role="status">${told}</p>
    <${Previews} explorer=${explorer} label="Variations" items=${shown.map(itemOf)} wall=${found.map(itemOf)} named tried=${tried} choose=${(/** @type {Table} */ { added }) => put(withVariation(variations, added))} /><//>`;
}
