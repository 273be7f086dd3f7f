/** The lists of palettes: the user's own, kept in the browser, and those of the catalog, favorites first. */
import { html } from "../html.js";
import { kept, observe } from "../state.js";
import { Button, download, TextField } from "../ui.js";
import { say } from "../words.js";
import { gradient, tableOf } from "./colors.js";
import { pointed } from "./pointing.js";

/** Keys of the favorites: F5, F11 and F12 stay the browser's. */
export const FAVORITE_KEYS = ["F2", "F3", "F4", "F6", "F7", "F8", "F9", "F10"];

const FEW = 10; // palettes that are shown until all are asked for
const own = observe({ all: false });

/** Return the names of the user's favorites: another version may have kept palettes that this catalog lacks.
 * @param {Received.Catalog|null} catalog */
export const favoritesIn = (catalog) =>
  kept
    .get("favourites", /** @type {string[]} */ ([]))
    .filter((favorite) => catalog?.palettes.some(({ name }) => name === favorite));

/** Tell whether this version can read a palette that was kept: colors, each with its place or none. @param {Partial<PaletteTable>} palette */
const isReadable = ({ stops }) =>
  Array.isArray(stops) &&
  stops.length > 0 &&
  stops.every((stop) => {
    const [place, color] = Array.isArray(stop) ? stop : [0, stop];
    return Number.isFinite(place) && typeof color === "string";
  });

/** @param {{catalog: Received.Catalog, chosen: Palette, choose: (name: string) => void, peek: (palette: Palette|null) => void}} options */
export function Palettes({ catalog, chosen, choose, peek }) {
  const favorites = favoritesIn(catalog);
  const rank = (/** @type {{name: string}} */ { name }) => favorites.indexOf(name) + 1 || 1000;
  const mark = (/** @type {string} */ name) => {
    const others = favorites.filter((other) => other !== name);
    kept.keep(
      "favourites",
      favorites.includes(name) ? others : [...others, name].slice(-FAVORITE_KEYS.length),
    );
  };
  const sorted = [...catalog.palettes].sort((a, b) => rank(a) - rank(b)),
    shown = sorted.filter(({ name }, k) => own.all || k < FEW || name === chosen);
  return html`<ul class="palettes" aria-label=${say("palettes")} data-about=${say("point_at_a_palette_to", { list: FAVORITE_KEYS.join(", ") })}>${shown.map(
    ({ name, title }) => {
      const starred = favorites.includes(name);
      return html`<li key=${name} class="palette">
      <button type="button" class="strip-button" title=${title} aria-pressed=${String(name === chosen)} onClick=${() => choose(name)} ...${pointed(
        name,
        () => peek(name),
        () => peek(null),
      )}>
        <span class="strip" style=${{ background: gradient(name, catalog) }}></span><span class="caption">${title}</span></button>
      <${Button} label=${starred ? say("remove_from_the_favorites", { title }) : say("mark_as_a_favorite", { title })} symbol="star" bare
        kind=${starred ? "star on" : "star"} aria-pressed=${String(starred)} onClick=${() => mark(name)} />
      ${starred && html`<kbd>${FAVORITE_KEYS[favorites.indexOf(name)]}</kbd>`}</li>`;
    },
  )}</ul>
  <${Button} label=${own.all ? say("fewer_palettes") : say("all_palettes", { count: sorted.length })} kind="quiet" aria-expanded=${String(own.all)} onClick=${() => {
    own.all = !own.all;
  }} />`;
}

const same = (
  /** @type {Palette} */ one,
  /** @type {Palette} */ other,
  /** @type {Received.Catalog} */ catalog,
) =>
  typeof other === "object" &&
  JSON.stringify(tableOf(one, catalog)) === JSON.stringify(tableOf(other, catalog));

/** The user's own palettes: the one that is shown can be kept under a name.
 * @param {{catalog: Received.Catalog, chosen: Palette, choose: (palette: PaletteTable) => void, peek: (palette: Palette|null) => void}} options */
export function OwnPalettes({ catalog, chosen, choose, peek }) {
  const all = kept.get("palettes", /** @type {PaletteTable[]} */ ([])),
    mine = all.filter(isReadable), // the others stay for the version that can read them
    known = mine.some((palette) => same(palette, chosen, catalog));
  const keep = (/** @type {string} */ title) => {
    if (!title.trim()) return;
    const palette = { title: title.trim().slice(0, 100), ...tableOf(chosen, catalog) };
    kept.keep("palettes", [...all.filter((each) => each.title !== palette.title), palette]);
    choose(palette);
  };
  return html`${typeof chosen === "object" && !known && html`<${TextField} aria-label=${say("keep_this_palette_as")} placeholder=${say("name_it_to_keep_it")} maxlength="100" value="" put=${keep} />`}
    ${
      mine.length > 0 &&
      html`<ul class="palettes own" aria-label=${say("my_palettes")}>${mine.map(
        (palette) => html`<li key=${palette.title} class="palette">
      <button type="button" class="strip-button" title=${palette.title} aria-pressed=${String(same(palette, chosen, catalog))} onClick=${() => choose(palette)} ...${pointed(
        palette,
        () => peek(palette),
        () => peek(null),
      )}>
        <span class="strip" style=${{ background: gradient(palette, catalog) }}></span><span class="caption">${palette.title}</span></button>
      <span class="line tight end"><${Button} label=${say("save_as_a_file", { title: palette.title ?? "" })} symbol="export" bare kind="quiet" onClick=${() => download(`${palette.title}.toml`, toml(palette))} />
        <${Button} label=${say("remove_name", { name: palette.title ?? "" })} symbol="trash" bare kind="quiet" onClick=${() =>
          kept.keep(
            "palettes",
            all.filter((each) => each !== palette),
          )} /></span></li>`,
      )}</ul>`
    }`;
}

/** Return the text of a palette's file, which `fractals render --palette` and *Import* read. */
export const toml = (/** @type {Palette} */ palette) =>
  Object.entries(palette)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
    .join("");
