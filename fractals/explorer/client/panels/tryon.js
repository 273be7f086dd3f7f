/** Try on: a choice is laid over the picture while it is pointed at, and nine at once are shown on a wall. */
import { html, useEffect, useLayoutEffect, useSignal } from "../html.js";
import { observe } from "../state.js";
import { Button, Card, Drawn } from "../ui.js";
import { say } from "../words.js";
import { drawFirst, useSmall } from "./previews.js";

/** @typedef {import("./previews.js").Item} Item */

const NINE = 9,
  ACROSS = 3;
const WIDTH = 256; // pixels of a picture
const REST_MS = 150; // that a card without a picture is pointed at before it is drawn

/** @param {Pick<Context, "explorer"|"ui">} context */
export function tryTool({ explorer, ui }) {
  // `wall`: what is shown on it
  const own = observe({
    wall: /** @type {{title: string, items: Item[], chosen?: string, fit?: boolean, choose: (item: Item, made?: import("./previews.js").Small) => void}|null} */ (
      null
    ),
  });
  let sheet = /** @type {ReturnType<typeof drawFirst>|null} */ (null),
    waiting = 0,
    opener = /** @type {HTMLElement|null} */ (null);

  const lay = (/** @type {Item} */ { title }, /** @type {HTMLCanvasElement} */ picture) => {
    ui.over = { picture, title, tried: true };
  };
  /** Show what is laid over no more. */
  function hide() {
    clearTimeout(waiting);
    sheet?.cancel();
    sheet = null;
    if (ui.over?.tried) ui.over = null;
  }
  /** Lay a choice over the picture: a small picture of it, which is drawn where there is none. @param {Item} item
   * @param {HTMLCanvasElement} [picture] @param {{fit?: boolean, rest?: number}} [how] `rest`: ms that the pointer rests before one is drawn */
  function show(item, picture, { fit = false, rest = REST_MS } = {}) {
    hide();
    if (picture) return lay(item, picture);
    waiting = setTimeout(() => {
      const mine = (sheet = drawFirst(
        explorer,
        { scenes: [item.change], fit, width: WIDTH },
        (_, small) => sheet === mine && lay(item, small.picture),
      ));
      mine.done.catch(() => {});
    }, rest);
  }
  explorer.addEventListener("gesture", hide);

  function open(/** @type {NonNullable<typeof own.wall>} */ wall) {
    hide();
    opener = /** @type {HTMLElement|null} */ (document.activeElement);
    own.wall = wall;
  }
  function close() {
    if (!own.wall) return false;
    own.wall = null;
    if (opener?.isConnected) opener.focus({ preventScroll: true });
    return true;
  }
  explorer.addEventListener("disconnected", close);
  // Choices are of the scene that the wall was opened over: undo leaves it.
  explorer.addEventListener("moved", ({ detail }) => detail === null && close());

  function Wall(/** @type {NonNullable<typeof own.wall>} */ { title, items, chosen, fit, choose }) {
    const page = useSignal(0),
      pages = Math.ceil(items.length / NINE),
      shown = items.slice(NINE * page.value, NINE * (page.value + 1));
    const { made, whole } = useSmall(explorer, shown, {
      wanted: true,
      fit,
      width: WIDTH,
      first: true,
    });
    let root = /** @type {HTMLElement|null} */ (null);
    const cards = () => /** @type {HTMLElement[]} */ ([...(root?.querySelectorAll(".card") ?? [])]);
    useLayoutEffect(() => {
      const all = cards();
      (all.find((each) => each.ariaPressed === "true") ?? all[0])?.focus({ preventScroll: true });
    }, [page.value]);
    useEffect(() => hide, []);
    const turn = (/** @type {number} */ by) => {
      page.value = Math.min(pages - 1, Math.max(0, page.value + by));
    };
    const key = (/** @type {KeyboardEvent} */ event) => {
      const to = /** @type {Record<string, number>} */ ({
        ArrowLeft: -1,
        ArrowRight: 1,
        ArrowUp: -ACROSS,
        ArrowDown: ACROSS,
      })[event.key];
      const by = /** @type {Record<string, number>} */ ({ PageUp: -1, PageDown: 1 })[event.key];
      const all = cards(),
        at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
      if (by) turn(by);
      else if (to && at >= 0) all[at + to]?.focus();
      else return;
      event.preventDefault();
    };
    const take = (/** @type {Item} */ item) => {
      close();
      choose(item, made[item.id]);
    };
    const count = shown.filter(({ id }) => made[id]).length;
    const told = whole
      ? count < shown.length
        ? say("what_has_no_picture_has")
        : ""
      : say("of", { value: count, count: shown.length });
    return html`<section class="wall glass" role="dialog" aria-label=${say("wall_of_nine_title", { title })} onKeyDown=${key} ref=${(
      /** @type {HTMLElement|null} */ node,
    ) => {
      root = node;
    }}><header class="line"><h2 class="grow">${title}</h2><span class="faint" role="status">${told}</span>
        ${pages > 1 && html`<span class="faint">${page.value + 1} / ${pages}</span><${Button} label=${say("the_nine_before")} symbol="back" bare kind="quiet" disabled=${page.value === 0} onClick=${() => turn(-1)} /><${Button} label=${say("the_next_nine")} symbol="next" bare kind="quiet" disabled=${page.value === pages - 1} onClick=${() => turn(1)} />`}
        <${Button} label=${say("close_the_wall")} symbol="close" bare kind="quiet" onClick=${close} /></header>
      <ul class="nine" aria-label=${title}>${shown.map(
        (
          item,
        ) => html`<li key=${item.id}><${Card} title=${item.title} about=${item.about} aria-pressed=${String(item.id === chosen)} disabled=${whole && !made[item.id]} onClick=${() => take(item)}>
        ${made[item.id] ? html`<${Drawn} key=${made[item.id].of} picture=${made[item.id].picture} />` : html`<span class=${whole ? "empty none" : "empty"}></span>`}<//></li>`,
      )}</ul></section>`;
  }
  const View = () => own.wall && html`<${Wall} key=${own.wall.title} ...${own.wall} />`;
  return { View, show, hide, open, close };
}
