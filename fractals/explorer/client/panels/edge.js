/** The right edge of a panel beside the picture: it is dragged to make the panel wider, or moved by arrow keys. */
import { html } from "../html.js";
import { kept } from "../state.js";
import { say } from "../words.js";

const USUAL = 348,
  LEAST = 300,
  STEP = 24; // CSS pixels
const root = document.documentElement;

/** Return the most CSS pixels of a panel: half of the window is the picture's. */
const most = () => Math.max(USUAL, innerWidth / 2);
const widthOf = (/** @type {number} */ wished) =>
  Math.round(Math.min(most(), Math.max(LEAST, wished)));

function put(/** @type {number} */ wished) {
  kept.set("panel", widthOf(wished));
  root.style.setProperty("--panel", `${kept.get("panel", USUAL)}px`);
}

export function Edge() {
  const width = widthOf(kept.get("panel", USUAL));
  root.style.setProperty("--panel", `${width}px`);
  const key = (/** @type {KeyboardEvent} */ event) => {
    const by = /** @type {Record<string, number>} */ ({ ArrowLeft: -STEP, ArrowRight: STEP })[
      event.key
    ];
    if (!by) return;
    event.preventDefault();
    put(width + by);
  };
  const drag = (/** @type {PointerEvent} */ event) => {
    const target = /** @type {HTMLElement} */ (event.currentTarget);
    if (!target.hasPointerCapture(event.pointerId)) return;
    put(event.clientX - (target.parentElement?.getBoundingClientRect().left ?? 0));
  };
  const grab = (/** @type {PointerEvent} */ event) => {
    event.preventDefault(); // a double click would choose text
    /** @type {HTMLElement} */ (event.currentTarget).setPointerCapture(event.pointerId);
  };
  return html`<div class="edge" role="separator" tabindex="0" aria-orientation="vertical" aria-label=${say("width_of_the_panel")} aria-valuemin=${LEAST} aria-valuemax=${Math.round(most())} aria-valuenow=${width}
    title=${say("drag_to_make_the_panel")} onKeyDown=${key} onPointerDown=${grab} onPointerMove=${drag} onDblClick=${() => put(USUAL)}></div>`;
}
