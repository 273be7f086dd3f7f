/** The wall of versions: each picture that was made, in rows of what was made of what, with names and stars; two of them compared. */
import { html, useEffect, useSignal } from "../html.js";
import { shelfOf } from "../shelf.js";
import { kept, observe } from "../state.js";
import {
  branchesOf,
  changeOf,
  elsewhere,
  fileOf,
  reached,
  restored,
  together,
  versionsIn,
  withoutVersion,
} from "../versions.js";
import { Button, Card, download, FileButton, Segments, Still, TextField } from "../ui.js";
import { say } from "../words.js";

const REST = 800; // ms that a picture rests, settled, until it is a version: changes before are one step of undo
const WIDTH = 256; // pixels of a small picture
const FILE = "fractals.versions.json";
const MOST_BYTES = 2 ** 26; // of a file
const SHOWN = ["all", "stars"];

/** @typedef {import("../versions.js").Version} Version */

export function versionsPanel(/** @type {Context} */ { explorer, notify, open }) {
  // `now`: the id of what is shown; `pair`: ids of those that are compared, or marked for it; `menu`: of the one whose buttons are shown
  const own = observe({
    all: /** @type {Version[]} */ ([]),
    now: /** @type {string|null} */ (null),
    pair: /** @type {string[]} */ ([]),
    comparing: false,
    menu: "",
    link: "",
    renamed: "",
  });
  const shelf = /** @type {ReturnType<typeof shelfOf<Version>>} */ (
    shelfOf("versions", (records, gone) => {
      if (own.now && gone.includes(own.now)) own.now = find(own.now)?.parent ?? null;
      have(elsewhere(own.all, records, gone));
    })
  );
  const find = (/** @type {string|null} */ id) => own.all.find((each) => each.id === id);

  /** Show another tree, and keep it. @param {Version[]} all */
  function put(all) {
    const before = new Map(own.all.map((each) => [each.id, each])),
      ids = new Set(all.map(({ id }) => id));
    void shelf.write(
      all.filter((each) => before.get(each.id) !== each),
      own.all.map(({ id }) => id).filter((id) => !ids.has(id)),
    );
    have(all);
  }
  /** Show another tree. @param {Version[]} all */
  function have(all) {
    own.all = all;
    own.pair = own.pair.filter(find);
    if (own.pair.length < 2) own.comparing = false;
  }
  const change = (/** @type {string} */ id, /** @type {Partial<Version>} */ changes) =>
    put(own.all.map((each) => (each.id === id ? { ...each, ...changes } : each)));

  /** Note the picture that is shown. @param {WholeScene} scene @param {string} still */
  function note(scene, still) {
    const { all, now } = reached(own.all, own.now, scene, still);
    put(all);
    own.now = now;
  }

  let waiting = 0;
  const wait = () => clearTimeout(waiting);
  const soon = () => {
    wait();
    if (!explorer.settled) return;
    waiting = setTimeout(() => {
      if (!explorer.settled) return;
      note(explorer.scene, explorer.still(WIDTH).toDataURL("image/jpeg", 0.8));
    }, REST);
  };
  const ready = shelf.all().then((before) => {
    own.all = together(
      branchesOf(before).flatMap(({ items }) => items),
      own.all,
    ); // another tab may have written meanwhile
    for (const { scene, still, move } of explorer.steps.back)
      if (scene && still && !move) note(scene, still);
    explorer.addEventListener("drawn", soon);
    for (const event of ["moved", "opening", "painted"]) explorer.addEventListener(event, wait);
    soon();
  });

  const show = (/** @type {Version} */ { scene }) =>
    void explorer.open({ scene: { ...scene, image: explorer.scene.image } });
  const mark = (/** @type {string} */ id) => {
    own.pair = own.pair.includes(id)
      ? own.pair.filter((each) => each !== id)
      : [...own.pair, id].slice(-2);
  };
  const titleOf = (/** @type {Version} */ version) =>
    version.title || changeOf(version, find(version.parent) ?? null);

  function remove(/** @type {Version} */ version) {
    const before = own.all;
    put(withoutVersion(before, version.id));
    if (own.now === version.id) own.now = version.parent;
    notify(say("was_removed", { name: titleOf(version) }), "info", {
      action: [say("undo"), () => put(restored(own.all, before, [version.id]))],
    });
  }
  /** Forget all that has neither star nor name. */
  function tidy() {
    const before = own.all,
      plain = before.filter(({ id, title, star }) => !title && !star && id !== own.now);
    put(plain.reduce((left, { id }) => withoutVersion(left, id), before));
    notify(say("versions_were_removed", { count: plain.length }), "info", {
      action: [
        say("undo"),
        () =>
          put(
            restored(
              own.all,
              before,
              plain.map(({ id }) => id),
            ),
          ),
      ],
    });
  }
  async function menu(/** @type {Version} */ { id, scene }) {
    Object.assign(own, { menu: own.menu === id ? "" : id, link: "", renamed: "" });
    if (!own.menu) return;
    const { linkOf } = await import("../site/scene.js"),
      link = await linkOf(scene).catch(() => "");
    if (own.menu === id) own.link = `${location.pathname}#${link}`;
  }
  /** Take the versions in a file. @param {File} file */
  async function take(file) {
    await ready;
    void open("versions");
    try {
      if (file.size > MOST_BYTES) throw new Error(say("this_file_holds_no_versions"));
      const given = versionsIn(await file.text()),
        count = own.all.length;
      put(together(own.all, given));
      notify(say("versions_were_added", { count: own.all.length - count }));
    } catch (error) {
      notify(error.message, "error");
    }
  }

  const One = (/** @type {{version: Version}} */ { version }) => {
    const { id, still, star } = version,
      title = titleOf(version),
      marked = own.pair.includes(id);
    return html`<li class="version"><div class="version-picture">
      <${Card} title=${own.renamed === id ? "" : title} aria-current=${id === own.now ? "true" : undefined} onClick=${() => show(version)}>${still ? html`<${Still} src=${still} />` : html`<span class="empty none"></span>`}<//>
      <${Button} label=${say(marked ? "compare_no_more" : "compare_name", { name: title })} symbol="check" bare kind=${`corner-button left ${marked ? "on" : "passing"}`} aria-pressed=${String(marked)} onClick=${() => mark(id)} />
      <${Button} label=${say(star ? "without_a_star" : "with_a_star", { name: title })} symbol="star" bare kind=${`corner-button ${star ? "on" : "passing"}`} aria-pressed=${String(star)} onClick=${() => change(id, { star: !star })} />
      <${Button} label=${say("more_about", { name: title })} symbol="more" bare kind="quiet version-more" aria-expanded=${String(own.menu === id)} onClick=${() => menu(version)} /></div>
      ${
        own.renamed === id &&
        html`<${TextField} aria-label=${say("new_title")} maxlength="200" value=${version.title} ref=${(
          /** @type {HTMLElement|null} */ node,
        ) => node?.focus()} put=${(/** @type {string} */ text) => {
          change(id, { title: text.trim() });
          own.renamed = "";
        }} />`
      }
      ${
        own.menu === id &&
        html`<div class="version-menu" role="group" aria-label=${title}>
          <${Button} label=${say("give_a_name")} symbol="edit" kind="quiet" onClick=${() => Object.assign(own, { menu: "", renamed: id })} />
          ${own.link && html`<a class="button quiet" href=${own.link} target="_blank" rel="noopener">${say("open_in_another_tab")}</a>`}
          <${Button} label=${say("remove")} symbol="trash" kind="quiet" onClick=${() => remove(version)} /></div>`
      }</li>`;
  };

  /** A row; where it begins at another one, it says at which. @param {{branch: import("../versions.js").Branch, index: number}} given */
  const Row = ({
    branch: { from, depth, items },
    index,
  }) => html`<section class="branch" style=${{ "--depth": Math.min(4, depth) }} aria-label=${from ? say("made_of", { name: titleOf(from) }) : say("row_of_versions", { count: index + 1 })}>
    ${from && html`<p class="faint branch-from">${from.still && html`<${Still} src=${from.still} />`}${say("made_of", { name: titleOf(from) })}</p>`}
    <ol class="cards versions">${items.map((version) => html`<${One} key=${version.id} version=${version} />`)}</ol></section>`;

  /** Arrow keys go from picture to picture. @param {KeyboardEvent} event */
  const key = (event) => {
    const by = /** @type {Record<string, number>} */ ({ ArrowLeft: -1, ArrowRight: 1 })[event.key],
      at = /** @type {HTMLElement} */ (event.target);
    if (!by || !at.classList.contains("card")) return;
    const all = /** @type {HTMLElement[]} */ ([
      .../** @type {Element} */ (event.currentTarget).querySelectorAll(".card"),
    ]);
    event.preventDefault();
    all[all.indexOf(at) + by]?.focus();
  };

  let Compared = /** @type {typeof import("./compared.js").Compared|null} */ (null); // loaded when two are first compared

  async function compare() {
    try {
      Compared ??= (await import("./compared.js")).Compared;
      own.comparing = own.pair.length === 2;
    } catch {
      notify(say("the_server_does_not_answer_this"), "error");
    }
  }

  function View() {
    const stars = useSignal(kept.get("versions.shown", SHOWN[0]));
    const pair = own.pair.map(find).filter((each) => each !== undefined);
    useEffect(() => {
      document.querySelector(".version [aria-current]")?.scrollIntoView({ block: "nearest" });
    }, [own.now]);
    if (own.comparing && Compared && pair.length === 2)
      return html`<${Compared} explorer=${explorer} pair=${pair} titleOf=${titleOf} show=${show} star=${(/** @type {Version} */ { id, star }) => change(id, { star: !star })} back=${() => (own.comparing = false)} />`;
    const wanted = stars.value === "stars" ? own.all.filter(({ star }) => star) : null;
    return html`<div class="stack" onKeyDown=${key}><p class="hint">${say("each_picture_that_rests_is")}</p>
      <div class="line wrap"><div class="grow"><${Segments} label=${say("versions_shown")} choices=${[
        ["all", say("all")],
        ["stars", say("with_a_star_only")],
      ]} value=${stars.value} put=${(/** @type {string} */ shown) => {
        stars.value = shown;
        kept.set("versions.shown", shown);
      }} /></div><${Button} label=${say("compare_two")} symbol="beside" kind=${pair.length === 2 ? "primary" : "quiet"} disabled=${pair.length < 2} onClick=${compare} /></div>
      <p class="faint" role="status">${pair.length < 2 && own.all.length > 1 ? say("tick_two_to_compare", { count: pair.length }) : ""}</p>
      ${own.all.length === 0 && html`<p class="hint">${say("no_versions_yet")}</p>`}
      ${
        wanted
          ? wanted.length
            ? html`<ol class="cards versions" aria-label=${say("with_a_star_only")}>${wanted.map((version) => html`<${One} key=${version.id} version=${version} />`)}</ol>`
            : html`<p class="hint">${say("no_version_has_a_star")}</p>`
          : branchesOf(own.all).map(
              (branch, index) =>
                html`<${Row} key=${branch.items[0].id} branch=${branch} index=${index} />`,
            )
      }
      <div class="line wrap"><${FileButton} label=${say("open_file")} kind="quiet" accept=".json" take=${take} />
        <${Button} label=${say("save_all_as_a_file")} symbol="export" kind="quiet" disabled=${own.all.length === 0} onClick=${() => download(FILE, fileOf(own.all))} /><span class="grow"></span>
        <${Button} label=${say("forget_those_without_a_star")} kind="quiet" disabled=${own.all.every(({ id, star, title }) => star || title || id === own.now)} onClick=${tidy} /></div></div>`;
  }
  return {
    View,
    take,
    cancel: () => own.comparing && !(own.comparing = false),
  };
}
