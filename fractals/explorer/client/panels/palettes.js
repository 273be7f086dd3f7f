/** The list of palettes, favorites first. */
import { html } from "../html.js";
import { kept } from "../state.js";
import { Button } from "../ui.js";
import { gradient } from "./colors.js";

/** Keys of the favorites: F5, F11 and F12 stay the browser's. */
export const FAVORITE_KEYS = ["F1", "F2", "F3", "F4", "F6", "F7", "F8", "F9", "F10"];

/** @param {{catalog: Table, chosen: string|Table, choose: (name: string) => void}} options */
export function Palettes({ catalog, chosen, choose }) {
  const favorites = kept.get("favourites", []);
  const rank = ({ name }) => favorites.indexOf(name) + 1 || 1000;
  const mark = (name) => {
    const others = favorites.filter((other) => other !== name);
    kept.set("favourites", favorites.includes(name) ? others : [...others, name].slice(-FAVORITE_KEYS.length));
  };
  return html`<ul class="palettes" aria-label="Palettes">${[...catalog.palettes].sort((a, b) => rank(a) - rank(b)).map(({ name, title }) => {
    const starred = favorites.includes(name);
    return html`<li key=${name} class="palette">
      <button type="button" class="strip-button" title=${title} aria-pressed=${String(name === chosen)} onClick=${() => choose(name)}>
        <span class="strip" style=${{ background: gradient(name, catalog) }}></span><span class="caption">${title}</span></button>
      <${Button} label=${starred ? `Remove ${title} from the favorites` : `Mark ${title} as a favorite`} symbol="star" bare
        kind=${starred ? "star on" : "star"} aria-pressed=${String(starred)} onClick=${() => mark(name)} />
      ${starred && html`<kbd>${FAVORITE_KEYS[favorites.indexOf(name)]}</kbd>`}</li>`;
  })}</ul>`;
}
