/** Files that are dropped, chosen or pasted, and the panel of a file that holds many things. */
import { html } from "../html.js";
import { observe } from "../state.js";

const MANY = 12; // things, beyond which a field searches them

/** Send a file to the server. `entry`: one of many things in it @param {File} file
 * @returns {Promise<Table>} what it holds: `scene`, `palette`, or `entries` to choose from */
export async function sent(file, entry = "") {
  const name = entry ? `${file.name}#${entry}` : file.name;
  const answer = await fetch(`/upload?name=${encodeURIComponent(name)}`, { method: "POST", body: file });
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error ?? `The server answered ${answer.status}`);
  return told;
}

export function filePanel(/** @type {Table} */ { explorer, notify, open }) {
  const own = observe({ file: /** @type {File|null} */ (null), entries: /** @type {string[][]} */ ([]), wanted: "", chosen: "" });

  /** Open what a file holds, or the panel where it holds many things. */
  async function take(/** @type {File} */ file, entry = "") {
    try {
      const { entries, scene, palette, lost } = await sent(file, entry);
      if (entries) {
        Object.assign(own, { file, entries, wanted: "", chosen: "" });
        await open("file");
        return;
      }
      if (scene) explorer.open({ scene });
      else explorer.paint({ ...explorer.scene.color, palette });
      own.chosen = entry;
      if (lost?.length) notify(`Settings without an equivalent: ${lost.join("; ")}`);
    } catch (/** @type {any} */ error) {
      const unsent = error instanceof TypeError; // of `fetch`, which says no more
      if (file.type.startsWith("image/") && !unsent && (await photo(file))) return;
      notify(unsent ? `${file.name} was not sent: it is a folder, or the server does not answer` : error.message, "error");
    }
  }

  /** Make the colors of a photograph the palette. @returns {Promise<boolean>} whether the browser can read it */
  async function photo(/** @type {File} */ file) {
    const palette = await import("./photo.js").then(({ paletteOf }) => paletteOf(file)).catch(() => null);
    if (palette) explorer.paint({ ...explorer.scene.color, palette });
    notify(palette ? `The palette has the colors of ${file.name}.` : `${file.name}: the browser can't read this picture`, palette ? "info" : "error");
    return Boolean(palette);
  }

  function View() {
    const { file, entries, wanted, chosen } = own, words = wanted.toLowerCase().split(/\s+/);
    if (!file) return html`<p class="hint">Drop a file with many scenes, formulas or palettes, and choose one here.</p>`;
    const fits = entries.filter(([name]) => words.every((word) => name.toLowerCase().includes(word)));
    return html`<div><p class="hint">${file.name} holds ${entries.length}. Choose one.</p>
      ${entries.length > MANY && html`<input type="search" placeholder="Search" aria-label="Search the file" value=${wanted} onInput=${(/** @type {Table} */ { target }) => { own.wanted = target.value; }} />`}
      <ul class="entries" aria-label="In the file">${fits.map(([name, about]) => html`<li key=${name}><button type="button" class="wide-button quiet" aria-pressed=${String(name === chosen)}
        disabled=${about.startsWith("unsupported")} onClick=${() => take(file, name)}>${name}<span class="faint">${about}</span></button></li>`)}</ul></div>`;
  }
  return { View, take };
}
