/** The lists of palettes: the user's own, kept in the browser, and those of the catalog, favorites first. */
import { html } from "../html.js";
import { kept, observe } from "../state.js";
import { Button, download, TextField } from "../ui.js";
import { gradient, tableOf } from "./colors.js";
import { pointed } from "./pointing.js";

/** Keys of the favorites: F5, F11 and F12 stay the browser's. */
export const FAVORITE_KEYS = ["F2", "F3", "F4", "F6", "F7", "F8", "F9", "F10"];

const FEW = 10; // palettes that are shown until all are asked for
const own = observe({ all: false });

/** @param {{catalog: Table, chosen: string|Table, choose: (name: string) => void, peek: (palette: string|Table|null) => void}} options */
export function Palettes({ catalog, chosen, choose, peek }) {
  const favorites = kept.get("favourites", []);
  const rank = (/** @type {Table} */ { name }) => favorites.indexOf(name) + 1 || 1000;
  const mark = (/** @type {string} */ name) => {
    const others = favorites.filter((/** @type {any} */ other) => other !== name);
    kept.set(
      "favourites",
      favorites.includes(name) ? others : [...others, name].slice(-FAVORITE_KEYS.length),
    );
  };
  const sorted = [...catalog.palettes].sort((a, b) => rank(a) - rank(b)),
    shown = sorted.filter(({ name }, k) => own.all || k < FEW || name === chosen);
  return html`<ul class="palettes" aria-label="Palettes" data-about=${`Point at a palette to try it, and click to take it. Its star keeps it at a key: ${FAVORITE_KEYS.join(", ")}.`}>${shown.map(
    ({ name, title }) => {
      const starred = favorites.includes(name);
      return html`<li key=${name} class="palette">
      <button type="button" class="strip-button" title=${title} aria-pressed=${String(name === chosen)} onClick=${() => choose(name)} ...${pointed(
        name,
        () => peek(name),
        () => peek(null),
      )}>
        <span class="strip" style=${{ background: gradient(name, catalog) }}></span><span class="caption">${title}</span></button>
      <${Button} label=${starred ? `Remove ${title} from the favorites` : `Mark ${title} as a favorite`} symbol="star" bare
        kind=${starred ? "star on" : "star"} aria-pressed=${String(starred)} onClick=${() => mark(name)} />
      ${starred && html`<kbd>${FAVORITE_KEYS[favorites.indexOf(name)]}</kbd>`}</li>`;
    },
  )}</ul>
  <${Button} label=${own.all ? "Fewer palettes" : `All ${sorted.length} palettes`} kind="quiet" aria-expanded=${String(own.all)} onClick=${() => {
    own.all = !own.all;
  }} />`;
}

const same = (/** @type {any} */ one, /** @type {any} */ other, /** @type {Table} */ catalog) =>
  typeof other === "object" &&
  JSON.stringify(tableOf(one, catalog)) === JSON.stringify(tableOf(other, catalog));

/** The user's own palettes: the one that is shown can be kept under a name.
 * @param {{catalog: Table, chosen: string|Table, choose: (palette: Table) => void, peek: (palette: string|Table|null) => void}} options */
export function OwnPalettes({ catalog, chosen, choose, peek }) {
  const mine = kept.get("palettes", []),
    known = mine.some((/** @type {string|Table} */ palette) => same(palette, chosen, catalog));
  const keep = (/** @type {string} */ title) => {
    if (!title.trim()) return;
    const palette = { title: title.trim().slice(0, 100), ...tableOf(chosen, catalog) };
    kept.set("palettes", [
      ...mine.filter((/** @type {Table} */ each) => each.title !== palette.title),
      palette,
    ]);
    choose(palette);
  };
  return html`${typeof chosen === "object" && !known && html`<${TextField} aria-label="Keep this palette as" placeholder="Name it to keep it" maxlength="100" value="" put=${keep} />`}
    ${
      mine.length > 0 &&
      html`<ul class="palettes own" aria-label="My palettes">${mine.map(
        (/** @type {Table} */ palette) => html`<li key=${palette.title} class="palette">
      <button type="button" class="strip-button" title=${palette.title} aria-pressed=${String(same(palette, chosen, catalog))} onClick=${() => choose(palette)} ...${pointed(
        palette,
        () => peek(palette),
        () => peek(null),
      )}>
        <span class="strip" style=${{ background: gradient(palette, catalog) }}></span><span class="caption">${palette.title}</span></button>
      <span class="line tight end"><${Button} label=${`Save ${palette.title} as a file`} symbol="export" bare kind="quiet" onClick=${() => download(`${palette.title}.toml`, toml(palette))} />
        <${Button} label=${`Remove ${palette.title}`} symbol="trash" bare kind="quiet" onClick=${() =>
          kept.set(
            "palettes",
            mine.filter((/** @type {Table} */ each) => each !== palette),
          )} /></span></li>`,
      )}</ul>`
    }`;
}

/** Return the text of a palette's file, which `fractals render --palette` and *Import* read. */
export const toml = (/** @type {string|Table} */ palette) =>
  Object.entries(palette)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
    .join("");
