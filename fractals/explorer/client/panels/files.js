/** Files that are dropped, chosen or pasted, and the panel of a file that holds many things. */
import { inWords, ofFile } from "../heard.js";
import { html } from "../html.js";
import { transport } from "../net.js";
import { observe } from "../state.js";
import { Row, Section, Select, TextField } from "../ui.js";
import { say } from "../words.js";

const MANY = 12; // things, beyond which a field searches them

/** Send a file to the server. `entry`: one of many things in it, and words that set what this one asks for, such as
 * "p1=2" @param {File} file
 * @returns {Promise<Received.Uploaded>} what it holds: `scene` and what it has `asked` for, `palette`, or `entries` to choose from */
export const sent = (file, entry = "") => transport.upload(file, entry);

/** @typedef {NonNullable<Received.Uploaded["asked"]>[number]} AskedOf */

export function filePanel(/** @type {Context} */ { explorer, ui, notify, open, close }) {
  const own = observe({
    file: /** @type {File|null} */ (null),
    entries: /** @type {string[][]} */ ([]),
    refused: /** @type {string[]} */ ([]), // names of entries that can't be drawn
    wanted: "",
    chosen: "",
    asked: /** @type {AskedOf[]} */ ([]),
  });

  /** Open what a file holds, or the panel where it holds many things, or asks for some.
   * @param {File} file @param {string} [entry] @param {AskedOf[]} [given] what it has asked for, with other values */
  async function take(file, entry = "", given = []) {
    if (!file.size) return notify(say("this_file_is_empty", { name: file.name }), "error");
    try {
      const words = given.map(([name, value]) => `${name}=${String(value).replace(/\s/g, "")}`);
      const {
        entries,
        refused = [],
        scene,
        palette,
        lost,
        unused,
        asked = [],
      } = await sent(file, [entry, ...words].join(" ").trim());
      if (entries) {
        Object.assign(own, { file, entries, refused, wanted: "", chosen: "", asked });
        await open("file");
        return;
      }
      if (scene) explorer.open({ scene });
      else explorer.paint({ ...explorer.wished.color, palette: palette ?? "auto" });
      if (!entry) Object.assign(own, { file: asked.length ? file : null, entries: [] }); // no more of a file before
      Object.assign(own, { chosen: entry, asked });
      if (asked.length) await open("file");
      else if (!entry && (ui.open === "file" || (scene && ui.open === "gallery"))) close();
      if (unused) notify(say("about_the_scene", { line: inWords(unused) }));
      if (lost?.length) {
        const { lossOf } = await import("./losses.js").catch(() => ({ lossOf: String }));
        notify(say("settings_without_an_equivalent", { list: lost.map(lossOf).join("; ") }));
      }
    } catch (error) {
      const unsent = error instanceof TypeError; // of `fetch`, which says no more
      if (file.type.startsWith("image/") && !unsent && (await photo(file))) return;
      const line = unsent
        ? say("was_not_sent_it_is", { name: file.name })
        : ofFile(error.message, file.name);
      notify(line, "error");
    }
  }

  /** Make the colors of a photograph the palette. @returns {Promise<boolean>} whether the browser can read it */
  async function photo(/** @type {File} */ file) {
    const palette = await import("./photo.js")
      .then(({ paletteOf }) => paletteOf(file))
      .catch(() => null);
    if (!palette) return false;
    explorer.paint({ ...explorer.wished.color, palette });
    notify(say("the_palette_has_the_colors", { name: file.name }));
    return true;
  }

  /** What a formula, or a file, asks for before it is drawn: numbers, choices and functions. */
  function Asked(/** @type {{file: File}} */ { file }) {
    const put = (/** @type {string} */ changed) => (/** @type {string} */ text) =>
      take(
        file,
        own.chosen,
        own.asked.map(([name, value, ...rest]) => [name, name === changed ? text : value, ...rest]),
      );
    return html`<${Section} title=${say("the_formula_asks_for")}>
      ${own.asked.map(([name, value, choices, title]) =>
        choices.length
          ? html`<${Select} key=${name} label=${title || name} choices=${choices.map((each) => [each, each])} value=${value} put=${put(name)} />`
          : html`<${Row} key=${name} label=${title || name} control=${(/** @type {string} */ id) => html`<${TextField} id=${id} value=${String(value)} put=${put(name)} />`} />`,
      )}
      <p class="hint">${say("a_number_such_as_0")}</p><//>`;
  }

  function View() {
    const { file, entries, refused, wanted, chosen, asked } = own,
      words = wanted.toLowerCase().split(/\s+/);
    if (!file) return html`<p class="hint">${say("drop_a_file_with_many")}</p>`;
    const fits = entries.filter(([name]) =>
      words.every((word) => name.toLowerCase().includes(word)),
    );
    return html`<div>${asked.length > 0 && html`<${Asked} file=${file} />`}
      ${entries.length > 0 && html`<p class="hint">${say("holds_choose_one", { name: file.name, count: entries.length })}</p>`}
      ${
        entries.length > MANY &&
        html`<input type="search" placeholder=${say("search")} aria-label=${say("search_the_file")} value=${wanted} onInput=${(
          /** @type {FieldEvent} */ { target },
        ) => {
          own.wanted = target.value;
        }} />`
      }
      ${
        entries.length > 0 &&
        html`<ul class="entries" aria-label=${say("in_the_file")}>${fits.map(
          ([
            name,
            about,
          ]) => html`<li key=${name}><button type="button" class="wide-button quiet" aria-pressed=${String(name === chosen)}
        disabled=${refused.includes(name)} onClick=${() => take(file, name)}>${name}<span class="faint">${about}</span></button></li>`,
        )}</ul>`
      }</div>`;
  }
  return { View, take };
}
