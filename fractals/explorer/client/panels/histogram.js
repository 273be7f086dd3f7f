/** The distribution of the view's values, each bar in its own color; dragging shifts the palette. */
import { html } from "../html.js";
import { say } from "../words.js";

export const BINS = 128;

/**
 * @param {{counts: Received.HistogramMessage|null, background: string, paint: Paint, shift: (offset: number, live: boolean) => void}} options
 *   `counts`: a message `histogram`, shown on a square-root scale, so that rare values remain visible
 */
export function Histogram({ counts, background, paint, shift }) {
  const { density = 1, offset = 0 } = paint;
  const style = counts
    ? { background, ...placed(counts, density, offset), clipPath: outline(counts.counts) }
    : {};
  const grab = (/** @type {PointerEvent} */ event) => {
    const node = /** @type {HTMLElement} */ (event.currentTarget);
    if (!counts) return;
    node.from = { x: event.clientX, offset };
    node.setPointerCapture(event.pointerId);
  };
  const drag = (/** @type {boolean} */ live) => (/** @type {PointerEvent} */ event) => {
    const node = /** @type {HTMLElement} */ (event.currentTarget);
    if (node.from && counts)
      shift(
        node.from.offset -
          ((event.clientX - node.from.x) / node.clientWidth) * density * (counts.high - counts.low),
        live,
      );
    if (!live) node.from = null;
  };
  return html`<div class="histogram" role="img" aria-label=${say("histogram_of_the_view_in")}
    onPointerDown=${grab} onPointerMove=${drag(true)} onLostPointerCapture=${drag(false)}><div class="bars" style=${style}></div></div>`;
}

/** Return where the palette lies behind the bars: it repeats after one turn. @param {Received.HistogramMessage} counts */
function placed({ low, high }, /** @type {number} */ density, /** @type {number} */ offset) {
  const turns = Math.max(1e-6, Math.abs(density * (high - low))),
    start = density * low + offset;
  const period = 100 / turns,
    shift = (start - Math.floor(start)) * period;
  // A percentage of a position is of the room that the image leaves.
  return {
    backgroundSize: `${period}% 100%`,
    backgroundPositionX:
      Math.abs(100 - period) < 1e-6 ? "0%" : `${(-100 * shift) / (100 - period)}%`,
  };
}

function outline(/** @type {number[]} */ counts) {
  const most = Math.max(1, ...counts),
    step = 100 / counts.length;
  const points = counts.flatMap((count, k) => {
    const y = 100 - 100 * Math.sqrt(count / most);
    return [`${k * step}% ${y}%`, `${(k + 1) * step}% ${y}%`];
  });
  return `polygon(0% 100%, ${points.join(", ")}, 100% 100%)`;
}
