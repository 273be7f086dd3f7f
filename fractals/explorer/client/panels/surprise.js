/** Surprise: twelve scenes like this one, favorites, and children of two of them. */
import { html } from "../html.js";
import { kept, observe } from "../state.js";
import { Button, Card, Drawn, Progress, Section, Still, words } from "../ui.js";
import { shownPalette, tableOf } from "./colors.js";
import { lockedOf } from "./numbers.js";
import { drawSheet } from "./previews.js";
import { Road } from "./road.js";

const SHEET = 12;
const MOST = 24; // favorites
const SAMPLES = 8; // of a palette between two others

export function surprisePanel(/** @type {Context} */ { explorer, notify, open, close }) {
  // `sheets`: all until now, the newest last; `at`: the one that is shown; `parents`: indices of favorites
  const own = observe({
    sheets: /** @type {Table[][]} */ ([]),
    at: -1,
    told: /** @type {Told|null} */ (null),
    parents: /** @type {number[]} */ ([]),
  });
  let job = /** @type {Table|null} */ (null);
  const favorites = () => kept.get("surprises", []);
  const choose = (/** @type {Table} */ scene) => {
    explorer.open({ scene: fitting(scene) });
    close();
  };
  const fitting = (/** @type {Table} */ scene) => ({ ...scene, image: explorer.scene.image });

  /** Show a new sheet, which `start(place)` fills: `place(index, made)`. */
  async function fill(
    /** @type {string} */ text,
    /** @type {(put: (index: number, made: any) => void) => any} */ start,
  ) {
    job?.cancel();
    const sheets = [...own.sheets.slice(0, own.at + 1), new Array(SHEET).fill(null)];
    Object.assign(own, {
      sheets,
      at: sheets.length - 1,
      told: { share: 0, text: `${text}: 0 of ${SHEET}` },
    });
    const { at } = own;
    const mine = start((/** @type {number} */ index, /** @type {any} */ made) => {
      own.sheets = own.sheets.with(at, own.sheets[at].with(index, made));
      const count = own.sheets[at].filter(Boolean).length;
      if (job === mine) own.told = { share: count / SHEET, text: `${text}: ${count} of ${SHEET}` };
    });
    job = mine;
    try {
      await mine.done;
    } catch (error) {
      if (!error.cancelled) notify(error.message, "error");
    } finally {
      if (own.sheets[at]) own.sheets = own.sheets.with(at, own.sheets[at].filter(Boolean));
      if (job === mine) {
        job = null;
        own.told = null;
      }
    }
  }

  const draw = () =>
    fill("Mutating this scene", (/** @type {(index: number, made: Table) => void} */ place) =>
      explorer.job(
        {
          t: "surprise",
          seed: Math.floor(Math.random() * 2 ** 31),
          locked: lockedOf(explorer.scene.formula?.name ?? explorer.scene.formula),
        },
        (/** @type {Table} */ { t, index, label, scene, preview }) => {
          if (t === "surprised")
            place(index, { label, scene, picture: explorer.pixelsOf(preview) });
        },
      ),
    );

  /** More like a card: its scene is opened, and mutated. */
  const vary = (/** @type {Table} */ scene) => {
    explorer.open({ scene: fitting(scene) });
    explorer.addEventListener("drawn", draw, { once: true });
  };

  async function breed() {
    const [one, other] = own.parents.map((index) => favorites()[index]?.scene);
    if (!one || !other) return;
    const [{ mixed }, { children }] = await Promise.all([
      import("./stops.js"),
      import("./breed.js"),
    ]);
    const between = (/** @type {Table} */ a, /** @type {Table} */ b) => {
      const tables = [a, b].map((color) =>
        tableOf(shownPalette(color, explorer.catalog), explorer.catalog),
      );
      const stops = Array.from({ length: SAMPLES }, (_, k) => [
        k / SAMPLES,
        mixed(
          { stops: tables.map((table, end) => [end, mixed(table, k / SAMPLES)]), cyclic: false },
          0.5,
        ),
      ]);
      return { title: "Between", stops, cyclic: true };
    };
    const scenes = children(one, other, SHEET, Math.random, between);
    fill("Breeding the two", (/** @type {(index: number, made: Table) => void} */ place) =>
      drawSheet(explorer, { scenes, fit: true, width: 256 }, (index, made) =>
        place(index, { label: `Child ${index + 1}`, ...made }),
      ),
    );
  }

  const sameAs = (/** @type {Table} */ scene) => (/** @type {Table} */ each) =>
    JSON.stringify(each.scene) === JSON.stringify(scene);
  const mark = (/** @type {Table} */ { label, scene, picture }) => {
    const others = favorites().filter((/** @type {Table} */ each) => !sameAs(scene)(each));
    const known = others.length < favorites().length;
    kept.set(
      "surprises",
      known
        ? others
        : [...others, { label, scene, still: picture.toDataURL("image/jpeg", 0.8) }].slice(-MOST),
    );
    own.parents = [];
  };
  const parent = (/** @type {number} */ index) => {
    own.parents = own.parents.includes(index)
      ? own.parents.filter((each) => each !== index)
      : [...own.parents, index].slice(-2);
  };
  const walk = (/** @type {number} */ to) => {
    job?.cancel();
    own.at = to;
  };

  const item = (/** @type {any} */ made, /** @type {number} */ index) => {
    if (!made) return html`<li key=${`empty ${index}`} class="empty" aria-hidden="true"></li>`;
    const title = words(made.label),
      starred = favorites().some(sameAs(made.scene));
    return html`<li key=${`${own.at} ${index}`}><${Card} title=${title} onClick=${() => choose(made.scene)}><${Drawn} picture=${made.picture} /><//>
      <${Button} label=${`More like ${title}`} symbol="surprise" bare kind="corner-button passing left" onClick=${() => vary(made.scene)} />
      <${Button} label=${starred ? `Remove ${title} from the favorites` : `Keep ${title} as a favorite`} symbol="star" bare kind=${`corner-button ${starred ? "on" : "passing"}`} aria-pressed=${String(starred)} onClick=${() => mark(made)} /></li>`;
  };
  const Favorites = () =>
    favorites().length > 0 &&
    html`<${Section} title="Favorites">
    <ul class="cards" aria-label="Favorites">${favorites().map(
      (/** @type {Table} */ each, /** @type {number} */ index) => html`<li key=${each.still}>
      <${Card} title=${words(each.label)} onClick=${() => choose(each.scene)}><${Still} src=${each.still} /><//>
      <${Button} label=${`Parent: ${words(each.label)}`} symbol="check" bare kind=${`corner-button left ${own.parents.includes(index) ? "on" : "passing"}`} aria-pressed=${String(own.parents.includes(index))} onClick=${() => parent(index)} />
      <${Button} label=${`Remove the favorite ${words(each.label)}`} symbol="trash" bare kind="corner-button passing" onClick=${() => {
        kept.set("surprises", favorites().toSpliced(index, 1));
        own.parents = [];
      }} /></li>`,
    )}</ul>
    ${favorites().length > 1 && html`<div class="line"><p class="hint grow">${own.parents.length < 2 ? "Tick two of them to breed them." : ""}</p><${Button} label="Breed these two" symbol="surprise" kind="primary" disabled=${own.parents.length < 2} onClick=${breed} /></div>`}<//>`;
  return {
    draw,
    View: () =>
      html`<div class="stack"><${Road} at="surprise" open=${open} /><${Progress} told=${own.told} cancel=${() => job?.cancel()} /><ul class="cards" aria-label="Surprises">${(own.sheets[own.at] ?? []).map(item)}</ul><${Favorites} /></div>`,
    Actions: () => html`<div class="line grow end tight">
      <${Button} label="The sheet before" symbol="back" bare kind="quiet" disabled=${own.at < 1} onClick=${() => walk(own.at - 1)} />
      ${own.at < own.sheets.length - 1 && html`<${Button} label="The next sheet" symbol="redo" bare kind="quiet" onClick=${() => walk(own.at + 1)} />`}
      <${Button} label="Twelve more" symbol="surprise" kind="quiet" onClick=${draw} /></div>`,
    shown: () => own.at >= 0 || draw(),
    hidden: () => job?.cancel(),
  };
}
