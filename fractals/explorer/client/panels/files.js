/** Files that are dropped, chosen or pasted, and the panel of a file that holds many things. */
import { html } from "../html.js";
import { transport } from "../net.js";
import { observe } from "../state.js";
import { Row, Section, Select, TextField } from "../ui.js";

const MANY = 12; // things, beyond which a field searches them

/** Send a file to the server. `entry`: one of many things in it, and words that set what this one asks for, such as
 * "p1=2" @param {File} file
 * @returns {Promise<Table>} what it holds: `scene` and what it has `asked` for, `palette`, or `entries` to choose from */
export const sent = (file, entry = "") => transport.upload(file, entry);

export function filePanel(/** @type {Context} */ { explorer, ui, notify, open, close }) {
  const own = observe({
    file: /** @type {File|null} */ (null),
    entries: /** @type {string[][]} */ ([]),
    wanted: "",
    chosen: "",
    asked: /** @type {any[][]} */ ([]),
  });

  /** Open what a file holds, or the panel where it holds many things, or asks for some.
   * @param {File} file @param {string} [entry] @param {any[][]} [given] what it has asked for, with other values */
  async function take(file, entry = "", given = []) {
    try {
      const words = given.map(([name, value]) => `${name}=${value.replace(/\s/g, "")}`);
      const {
        entries,
        scene,
        palette,
        lost,
        unused,
        asked = [],
      } = await sent(file, [entry, ...words].join(" ").trim());
      if (entries) {
        Object.assign(own, { file, entries, wanted: "", chosen: "", asked });
        await open("file");
        return;
      }
      if (scene) explorer.open({ scene });
      else explorer.paint({ ...explorer.scene.color, palette });
      if (!entry) Object.assign(own, { file: asked.length ? file : null, entries: [] }); // no more of a file before
      Object.assign(own, { chosen: entry, asked });
      if (asked.length) await open("file");
      else if (!entry && ui.open === "file") close();
      if (unused) notify(unused);
      if (lost?.length) notify(`Settings without an equivalent: ${lost.join("; ")}`);
    } catch (/** @type {any} */ error) {
      const unsent = error instanceof TypeError; // of `fetch`, which says no more
      if (file.type.startsWith("image/") && !unsent && (await photo(file))) return;
      notify(
        unsent
          ? `${file.name} was not sent: it is a folder, or the server does not answer`
          : error.message,
        "error",
      );
    }
  }

  /** Make the colors of a photograph the palette. @returns {Promise<boolean>} whether the browser can read it */
  async function photo(/** @type {File} */ file) {
    const palette = await import("./photo.js")
      .then(({ paletteOf }) => paletteOf(file))
      .catch(() => null);
    if (palette) explorer.paint({ ...explorer.scene.color, palette });
    notify(
      palette
        ? `The palette has the colors of ${file.name}.`
        : `${file.name}: the browser can't read this picture`,
      palette ? "info" : "error",
    );
    return Boolean(palette);
  }

  /** What a formula, or a file, asks for before it is drawn: numbers, choices and functions. */
  function Asked(/** @type {{file: File}} */ { file }) {
    const put = (/** @type {string} */ changed) => (/** @type {string} */ text) =>
      take(
        file,
        own.chosen,
        own.asked.map(([name, value]) => [name, name === changed ? text : value]),
      );
    return html`<${Section} title="The formula asks for">
      ${own.asked.map(([name, value, choices, title]) =>
        choices.length
          ? html`<${Select} key=${name} label=${title || name} choices=${choices.map((/** @type {string} */ each) => [each, each])} value=${value} put=${put(name)} />`
          : html`<${Row} key=${name} label=${title || name} control=${(/** @type {string} */ id) => html`<${TextField} id=${id} value=${value} put=${put(name)} />`} />`,
      )}
      <p class="hint">A number, such as 0.5, or two for a complex one: 0.5,-1.</p><//>`;
  }

  function View() {
    const { file, entries, wanted, chosen, asked } = own,
      words = wanted.toLowerCase().split(/\s+/);
    if (!file)
      return html`<p class="hint">Drop a file with many scenes, formulas or palettes, and choose one here.</p>`;
    const fits = entries.filter(([name]) =>
      words.every((word) => name.toLowerCase().includes(word)),
    );
    return html`<div>${asked.length > 0 && html`<${Asked} file=${file} />`}
      ${entries.length > 0 && html`<p class="hint">${file.name} holds ${entries.length}. Choose one.</p>`}
      ${
        entries.length > MANY &&
        html`<input type="search" placeholder="Search" aria-label="Search the file" value=${wanted} onInput=${(
          /** @type {Table} */ { target },
        ) => {
          own.wanted = target.value;
        }} />`
      }
      ${
        entries.length > 0 &&
        html`<ul class="entries" aria-label="In the file">${fits.map(
          ([
            name,
            about,
          ]) => html`<li key=${name}><button type="button" class="wide-button quiet" aria-pressed=${String(name === chosen)}
        disabled=${about.startsWith("unsupported")} onClick=${() => take(file, name)}>${name}<span class="faint">${about}</span></button></li>`,
        )}</ul>`
      }</div>`;
  }
  return { View, take };
}
