/** The menu of a point: what can be done there. */
import { html, useLayoutEffect } from "../html.js";
import { transport } from "../net.js";
import { observe } from "../state.js";
import { Button, copyText } from "../ui.js";
import { say } from "../words.js";

const AROUND = 0.12; // of the picture's shorter side: where a minibrot or a spiral is searched for
const SIZE = [236, 376]; // CSS pixels, about

export function pointMenu(
  /** @type {Context} */ { explorer, notify, open, julia, canvas, second, space },
) {
  const own = observe({ shown: /** @type {{at: number[], x: number, y: number}|null} */ (null) });
  const close = () => {
    if (!own.shown) return false;
    own.shown = null;
    canvas.focus({ preventScroll: true });
    return true;
  };
  explorer.addEventListener("menu", ({ detail }) => {
    own.shown = detail;
  });
  explorer.addEventListener("gesture", () => {
    own.shown = null;
  });

  const around = (/** @type {number[]} */ [x, y]) => {
    const reach = Math.round(16 * AROUND * Math.min(...explorer.size));
    return [x - reach, y - reach, x + reach, y + reach];
  };
  const find = (/** @type {"nucleus"|"misiurewicz"} */ what) => (/** @type {number[]} */ at) =>
    open("find", { focus: false }).then((panel) => panel?.near?.(what, around(at)));
  const center = (/** @type {number[]} */ at) =>
    explorer.move({
      by: explorer.seen.middle.map(
        (/** @type {number} */ part, /** @type {number} */ k) => part - at[k],
      ),
    });
  const copy = async (/** @type {number[]} */ at) => {
    const told = await explorer
      .request({ t: "pick", at })
      .catch((/** @type {Error} */ error) => notify(error.message, "error"));
    if (told) copyText(told.center.join(" "), notify);
  };
  const searches = /** @type {[string, (at: number[]) => void][]} */ ([
    [say("minibrot_near_here"), find("nucleus")],
    [say("eye_of_the_spiral_near"), find("misiurewicz")],
  ]);
  /** @type {[string, (at: number[]) => void][]} */
  const ITEMS = [
    [say("center_here"), center],
    [say("julia_set_of_this_point"), (at) => julia.enter(at)],
    [say("julia_set_beside_the_picture"), (at) => second(at)],
    ...(transport.lacks("searches") ? [] : searches),
    [say("copy_the_coordinates"), copy],
    [say("keep_as_a_bookmark"), () => open("bookmark")],
  ];

  /** @type {[string, (at: number[]) => void][]} */
  const OF_SOLIDS = [
    [say("focus_here"), (at) => space.focusAt(at)],
    [say("keep_as_a_bookmark"), () => open("bookmark")],
  ];

  function Menu(/** @type {{at: number[], x: number, y: number}} */ { at, x, y }) {
    let made = /** @type {HTMLElement|null} */ (null);
    useLayoutEffect(() => made?.querySelector("button")?.focus({ preventScroll: true }), [x, y]);
    const step = (/** @type {KeyboardEvent} */ event) => {
      const by = /** @type {Record<string, number>} */ ({ ArrowDown: 1, ArrowUp: -1 })[event.key];
      if (!by) return;
      event.preventDefault();
      const all = /** @type {(Element|null)[]} */ ([
        .../** @type {Element} */ (event.currentTarget).children,
      ]);
      const next = all.at((all.indexOf(document.activeElement) + by) % all.length);
      /** @type {HTMLElement} */ (next).focus();
    };
    const style = {
      left: `${Math.max(8, Math.min(x, innerWidth - SIZE[0]))}px`,
      top: `${Math.max(8, Math.min(y, innerHeight - SIZE[1]))}px`,
    };
    return html`<div class="menu glass" role="menu" aria-label=${say("at_this_point")} style=${style} ref=${(
      /** @type {HTMLElement} */ node,
    ) => {
      made = node;
    }} onKeyDown=${step}>
      ${(explorer.placed?.camera ? OF_SOLIDS : ITEMS).map(([label, run]) => html`<${Button} key=${label} label=${label} role="menuitem" onClick=${() => (close(), run(at))} />`)}</div>`;
  }
  return {
    View: () => own.shown && html`<${Menu} at=${own.shown.at} x=${own.shown.x} y=${own.shown.y} />`,
    close,
  };
}
