/** Surprise: twelve scenes like this one, favorites, and children of two of them. */
import { html } from "../html.js";
import { transport } from "../net.js";
import { canvasOf } from "../picture.js";
import { nameOf } from "../points.js";
import { kept, observe } from "../state.js";
import { Button, Card, Drawn, Progress, Section, Still } from "../ui.js";
import { labelOf } from "../heard.js";
import { say } from "../words.js";
import { shownPalette, tableOf } from "./colors.js";
import { lockedOf } from "./numbers.js";
import { drawSheet } from "./previews.js";
import { onceDrawn, Road } from "./road.js";

const SHEET = 12;
const MOST = 24; // favorites
const SAMPLES = 8; // of a palette between two others

/** @typedef {import("../heard.js").Named} Named */
/** @typedef {Pictured & Named} Made a card */
/** @typedef {Named & {scene: WholeScene, still: string}} Favorite */
/** @typedef {{done: Promise<unknown>, cancel: () => unknown}} Drawing */

export function surprisePanel(/** @type {Context} */ { explorer, notify, open, close }) {
  const lacking = transport.lacks("surprises");
  if (lacking)
    return {
      View: () =>
        html`<div class="stack"><${Road} at="surprise" open=${open} /><p class="hint">${lacking}</p></div>`,
    };
  // `sheets`: all until now, the newest last; `at`: the one that is shown; `parents`: indices of favorites
  const own = observe({
    sheets: /** @type {(Made|null)[][]} */ ([]),
    at: -1,
    told: /** @type {Told|null} */ (null),
    parents: /** @type {number[]} */ ([]),
  });
  let job = /** @type {Drawing|null} */ (null);
  const favorites = () => kept.get("surprises", /** @type {Favorite[]} */ ([]));
  const choose = (/** @type {Scene} */ scene) => {
    explorer.open({ scene: fitting(scene) });
    close();
  };
  const fitting = (/** @type {Scene} */ scene) => ({ ...scene, image: explorer.scene.image });

  /** Show a new sheet, which `start(place)` fills: `place(index, made)`. */
  async function fill(
    /** @type {string} */ text,
    /** @type {(put: (index: number, made: Made) => void) => Drawing} */ start,
  ) {
    job?.cancel();
    const before = own.sheets.slice(0, own.at + 1).map((sheet) => sheet.filter(Boolean)),
      sheets = [...before, new Array(SHEET).fill(null)];
    document.querySelector(".panel-surprise .body")?.scrollTo({ top: 0 }); // where the sheet is
    Object.assign(own, {
      sheets,
      at: sheets.length - 1,
      told: { share: 0, text: say("done_of", { text, count: 0, of: SHEET }) },
    });
    const { at } = own;
    const mine = start((index, made) => {
      if (job !== mine) return; // another sheet may lie there now
      own.sheets = own.sheets.with(at, own.sheets[at].with(index, made));
      const count = own.sheets[at].filter(Boolean).length;
      own.told = { share: count / SHEET, text: say("done_of", { text, count, of: SHEET }) };
    });
    job = mine;
    try {
      await mine.done;
      if (job === mine && !own.sheets[at].some(Boolean)) notify(say("none_of_these_scenes_can"));
    } catch (error) {
      if (!error.cancelled) notify(error.message, "error");
    } finally {
      if (job === mine) {
        own.sheets = own.sheets.with(at, own.sheets[at].filter(Boolean));
        job = null;
        own.told = null;
      }
    }
  }

  const draw = () =>
    fill(say("mutating_this_scene"), (place) =>
      explorer.job(
        {
          t: "surprise",
          seed: Math.floor(Math.random() * 2 ** 31),
          locked: lockedOf(nameOf(explorer.scene.formula) ?? ""),
        },
        (told) => {
          if (told.t !== "surprised") return;
          const { index, label, way, other, scene, preview } = told;
          place(index, { label, way, other, scene, picture: canvasOf(preview) });
        },
      ),
    );

  /** More like a card: its scene is opened, and mutated. */
  const vary = (/** @type {Scene} */ scene) => {
    explorer.open({ scene: fitting(scene) });
    onceDrawn(explorer, draw);
  };

  async function breed() {
    const [one, other] = own.parents.map((index) => favorites()[index]?.scene);
    if (!one || !other) return;
    const files = await Promise.all([import("./stops.js"), import("./breed.js")]).catch(() => null);
    if (!files) return notify(say("the_server_does_not_answer_this"), "error");
    const [{ mixed }, { children }] = files;
    const between = (/** @type {Color} */ a, /** @type {Color} */ b) => {
      const tables = [a, b].map((color) =>
        tableOf(shownPalette(color, explorer.catalog), explorer.catalog),
      );
      const stops = Array.from({ length: SAMPLES }, (_, k) => {
        const ends = tables.map(
          (table, end) => /** @type {Stop} */ ([end, mixed(table, k / SAMPLES)]),
        );
        return /** @type {Stop} */ ([k / SAMPLES, mixed({ stops: ends, cyclic: false }, 0.5)]);
      });
      return { title: say("between"), stops, cyclic: true };
    };
    const none = Object.fromEntries(Object.keys(explorer.scene).map((key) => [key, null])); // of what only the shown scene has
    const { version, image } = explorer.scene;
    const scenes = children(one, other, SHEET, Math.random, between).map((child) => ({
      ...none,
      version,
      image,
      ...child,
    }));
    fill(say("breeding_the_two"), (place) =>
      drawSheet(explorer, { scenes, fit: true, width: 256 }, (index, made) =>
        place(index, { label: say("child", { value: index + 1 }), ...made }),
      ),
    );
  }

  const sameAs = (/** @type {Scene} */ scene) => (/** @type {{scene: Scene}} */ each) =>
    JSON.stringify(each.scene) === JSON.stringify(scene);
  const mark = (/** @type {Made} */ { picture, ...named }) => {
    const { scene } = named;
    const others = favorites().filter((each) => !sameAs(scene)(each));
    const known = others.length < favorites().length;
    kept.keep(
      "surprises",
      known
        ? others
        : [...others, { ...named, still: picture.toDataURL("image/jpeg", 0.8) }].slice(-MOST),
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

  const item = (/** @type {Made|null} */ made, /** @type {number} */ index) => {
    if (!made) return html`<li key=${`empty ${index}`} class="empty" aria-hidden="true"></li>`;
    const title = labelOf(made),
      starred = favorites().some(sameAs(made.scene));
    return html`<li key=${`${own.at} ${index}`}><${Card} title=${title} onClick=${() => choose(made.scene)}><${Drawn} picture=${made.picture} /><//>
      <${Button} label=${say("more_like", { title })} symbol="surprise" bare kind="corner-button passing left" onClick=${() => vary(made.scene)} />
      <${Button} label=${starred ? say("remove_from_the_favorites", { title }) : say("keep_as_a_favorite", { title })} symbol="star" bare kind=${`corner-button ${starred ? "on" : "passing"}`} aria-pressed=${String(starred)} onClick=${() => mark(made)} /></li>`;
  };
  const Favorites = () =>
    favorites().length > 0 &&
    html`<${Section} title=${say("favorites")}>
    <ul class="cards" aria-label=${say("favorites")}>${favorites().map(
      (each, index) => html`<li key=${each.still}>
      <${Card} title=${labelOf(each)} onClick=${() => choose(each.scene)}><${Still} src=${each.still} /><//>
      <${Button} label=${say("parent", { name: labelOf(each) })} symbol="check" bare kind=${`corner-button left ${own.parents.includes(index) ? "on" : "passing"}`} aria-pressed=${String(own.parents.includes(index))} onClick=${() => parent(index)} />
      <${Button} label=${say("remove_the_favorite", { name: labelOf(each) })} symbol="trash" bare kind="corner-button passing" onClick=${() => {
        kept.keep("surprises", favorites().toSpliced(index, 1));
        own.parents = [];
      }} /></li>`,
    )}</ul>
    ${favorites().length > 1 && html`<div class="line"><p class="hint grow">${own.parents.length < 2 ? say("tick_two_of_them_to") : ""}</p><${Button} label=${say("breed_these_two")} symbol="surprise" kind="primary" disabled=${own.parents.length < 2} onClick=${breed} /></div>`}<//>`;
  return {
    draw,
    View: () =>
      html`<div class="stack"><${Road} at="surprise" open=${open} /><${Progress} told=${own.told} cancel=${() => job?.cancel()} /><ul class="cards" aria-label=${say("surprises")}>${(own.sheets[own.at] ?? []).map(item)}</ul><${Favorites} /></div>`,
    Actions: () => html`<div class="line grow end tight">
      <${Button} label=${say("the_sheet_before")} symbol="back" bare kind="quiet" disabled=${own.at < 1} onClick=${() => walk(own.at - 1)} />
      ${own.at < own.sheets.length - 1 && html`<${Button} label=${say("the_next_sheet")} symbol="redo" bare kind="quiet" onClick=${() => walk(own.at + 1)} />`}
      <${Button} label=${say("twelve_more")} symbol="surprise" kind="quiet" onClick=${draw} /></div>`,
    shown: () => own.at >= 0 || draw(),
    hidden: () => job?.cancel(),
  };
}
