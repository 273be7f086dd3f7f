/** The desk of a flame: the list of its transforms with mute, solo and order, and its symmetry. */
import {
  isMuted,
  isSolo,
  MOST_FOLD,
  moving,
  muted,
  reordered,
  soloed,
  symmetryOf,
  withSymmetry,
} from "../flames.js";
import { html } from "../html.js";
import { FINAL } from "../points.js";
import { Button, Section, Select, Toggle, whileHeld, words } from "../ui.js";
import { say } from "../words.js";
import { gradient, shownPalette } from "./colors.js";
import { weightsOf } from "./variations.js";

const FOLDS = Array.from({ length: MOST_FOLD }, (_, k) => [
  String(k + 1),
  k ? say("fold", { count: k + 1 }) : say("none"),
]);
const STEPS = /** @type {Record<string, number>} */ ({ ArrowUp: -1, ArrowDown: 1 });

/** @typedef {import("../points.js").Listed} Listed */
/** @param {{explorer: import("../explorer.js").Explorer, own: {picked: number|string}, listed: () => Transform[], shown: () => Listed[], picked: () => Listed,
 *   replace: (list: Transform[], step?: string) => void}} given `own.picked` is the key of a transform; `shown`: as of `transformsOf` */
export function deskTool({ explorer, own, listed, shown, picked, replace }) {
  let before = /** @type {number[]} */ ([]); // opacities of what is muted, by number
  const forget = () => (before = []);
  explorer.addEventListener("jump", forget); // another flame

  const hear = (/** @type {typeof muted} */ change, /** @type {number} */ k) => {
    const made = change(listed(), k, before);
    ({ before } = made);
    replace(made.list);
  };
  const move = (/** @type {number} */ from, /** @type {number} */ to) => {
    const list = listed(),
      last = list.length - symmetryOf(list).count - 1;
    if (to === from || to < 0 || to > last) return;
    const order = moving(list.length, from, to);
    if (before.length) before = order.map((k) => before[k]);
    if (own.picked !== FINAL) own.picked = order.indexOf(Number(own.picked));
    replace(reordered(list, from, to));
  };

  /** Drag a row by its grip onto another one's place; arrow keys move it, too. */
  const grab = (/** @type {number} */ from) => (/** @type {PointerEvent} */ event) => {
    event.preventDefault();
    let over = /** @type {Element|null|undefined} */ (null);
    const follow = (/** @type {PointerEvent} */ { clientX, clientY }) => {
      over?.classList.remove("target");
      over = document.elementFromPoint(clientX, clientY)?.closest("[data-row]");
      over?.classList.add("target");
    };
    whileHeld(event, follow, () => {
      over?.classList.remove("target");
      const to = over?.getAttribute("data-row");
      if (to) move(from, Number(to));
    });
  };
  const nudge = (/** @type {number} */ k) => (/** @type {KeyboardEvent} */ event) => {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    move(k, k + step);
    requestAnimationFrame(() =>
      /** @type {HTMLElement|null} */ (
        document.querySelector(`[data-row="${k + step}"] .grip-button`)
      )?.focus(),
    );
  };

  /** The color of a transform in the palette, which is laid out many times wider than this chip. */
  const Chip = (/** @type {{color: number}} */ { color }) =>
    html`<span class="chip" style=${{
      background: gradient(
        shownPalette(explorer.scene.color ?? {}, explorer.catalog),
        explorer.catalog,
      ),
      backgroundSize: "10000% 100%",
      backgroundPosition: `${100 * color}% 0`,
    }}></span>`;

  function List() {
    const list = listed();
    const row = (/** @type {Listed} */ [key, transform, name]) => {
      const final = key === FINAL,
        k = Number(key),
        does = weightsOf(transform.variations ?? { linear: 1 }, explorer.catalog)
          .map(words)
          .join(", "),
        chosen = key === picked()[0];
      const last = !final && !isMuted(transform) && isSolo(list, k); // of those that are drawn
      return html`<li key=${key} class=${`layer${chosen ? " picked" : ""}`} data-row=${final ? undefined : key}><div class="line tight">
        ${!final && html`<${Button} label=${say("move_transform_drag_or_press", { name })} symbol="grip" bare kind="quiet grip-button" onPointerDown=${grab(k)} onKeyDown=${nudge(k)} />`}
        <button type="button" class="layer-name transform-name" aria-pressed=${String(chosen)} title=${does} onClick=${() => {
          own.picked = key;
        }}><${Chip} color=${transform.color ?? 0} /><span class="strong">${name}</span><span class="faint">${does}</span></button>
        ${
          !final &&
          html`<button type="button" class="quiet bare letter" aria-label=${say("mute_transform", { name })} title=${say("mute_its_points_are_not")} aria-pressed=${String(isMuted(transform))} disabled=${last} onClick=${() => hear(muted, k)}>M</button>
          <button type="button" class="quiet bare letter" aria-label=${say("solo_transform", { name })} title=${say("solo_only_its_points_are")} aria-pressed=${String(isSolo(list, k))} disabled=${list.length < 2} onClick=${() => hear(soloed, k)}>S</button>`
        }</div></li>`;
    };
    return html`<ol class="layers" aria-label=${say("transforms")} data-about=${say("m_mutes_a_transform_whose")}>${shown().map(row)}</ol>`;
  }

  function Symmetry() {
    const list = listed(),
      now = symmetryOf(list);
    const put = (/** @type {{fold?: number, mirrored?: boolean}} */ changes) => {
      forget();
      replace(withSymmetry(list, { ...now, ...changes }));
    };
    return html`<${Section} title=${say("symmetry")}>
      <${Select} label=${say("turns")} choices=${FOLDS} value=${String(now.fold)} hint=${say("the_flame_about_the_middle")} put=${(/** @type {string} */ fold) => put({ fold: Number(fold) })} />
      <${Toggle} label=${say("mirrored")} about=${say("the_flame_and_its_mirror")} value=${now.mirrored} put=${(/** @type {boolean} */ mirrored) => put({ mirrored })} /><//>`;
  }
  return { List, Symmetry, forget };
}
