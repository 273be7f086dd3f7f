/** A variation to add to a transform: small pictures of this flame with each, and a search. */
import { html } from "../html.js";
import { observe } from "../state.js";
import { Section, words } from "../ui.js";
import { say } from "../words.js";
import { Previews } from "./previews.js";

/** @typedef {Record<string, number>} Weights of variations, and their parameters */
const MOST = 24; // small pictures at once: a flame takes a fraction of a second each
const own = observe({ wanted: "" });

/** Return the variations that have each of the words that are searched, those that begin with them first.
 * @param {Received.VariationFacts[]} variations @param {string} wanted @returns {Received.VariationFacts[]} */
export function variationsFor(variations, wanted) {
  const parts = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (/** @type {Received.VariationFacts} */ { name, title }) =>
    `${words(name)} ${title}`.toLowerCase();
  const found = variations.filter((each) => parts.every((part) => text(each).includes(part)));
  const begins = (/** @type {Received.VariationFacts} */ each) =>
    Number(text(each).startsWith(parts[0] ?? ""));
  return found.sort((one, other) => begins(other) - begins(one));
}

/** Return the keys of a transform's variations that are weights; the others are parameters.
 * @param {Weights} variations @param {Received.Catalog} catalog @returns {string[]} */
export function weightsOf(variations, catalog) {
  const names = catalog.variations.map(({ name }) => name);
  return Object.keys(variations).filter((key) => names.includes(key.replace(/^(pre|post)_/, "")));
}

/** Return weights and parameters with one more variation. @param {Weights} variations
 * @param {Received.VariationFacts} added @returns {Weights} */
export function withVariation(variations, { name, parameters = {} }) {
  const given = Object.entries(parameters).map(([key, value]) => [`${name}_${key}`, value]);
  return { ...variations, [name]: 0.5, ...Object.fromEntries(given) };
}

/** @param {{explorer: import("../explorer.js").Explorer, tried: Tried, variations: Weights, change: (variations: Weights) => Scene, put: (variations: Weights) => void}} options
 * `change`: the keys of the scene with other variations of the transform */
export function AddVariation({ explorer, tried, variations, change, put }) {
  const free = explorer.catalog.variations.filter(({ name }) => !(name in variations));
  const found = variationsFor(free, own.wanted),
    shown = found.slice(0, MOST);
  const itemOf = (/** @type {Received.VariationFacts} */ each) => ({
    id: each.name,
    title: words(each.name),
    about: each.title,
    change: change(withVariation(variations, each)),
    added: each,
  });
  const told = !found.length
    ? say("no_variation_has_these_words")
    : found.length > MOST
      ? say("of_type_words_to_find", { shown: MOST, count: found.length })
      : "";
  return html`<${Section} title=${say("add_a_variation")} open=${false}>
    <input type="search" placeholder=${say("search")} aria-label=${say("search_the_variations")} value=${own.wanted} onInput=${(
      /** @type {FieldEvent} */ { target },
    ) => {
      own.wanted = target.value;
    }} />
    <p class="hint" role="status">${told}</p>
    <${Previews} explorer=${explorer} label=${say("variations")} items=${shown.map(itemOf)} wall=${found.map(itemOf)} named tried=${tried} choose=${({ added }) => put(withVariation(variations, added))} /><//>`;
}
