/** The graph in which keys of a film are dragged, and the choice of how the film comes to a key. */
import { html } from "../html.js";
import { Select } from "../ui.js";
import { say } from "../words.js";
import { heightOf } from "./curves.js";

const EASES = [
  ["soft", say("softly")],
  ["constant", say("at_constant_speed")],
  ["in", say("beginning_slowly")],
  ["out", say("ending_slowly")],
  ["both", say("beginning_and_ending_slowly")],
  ["hold", say("with_a_jump_at_the")],
];

/** A curve with its keys. @param {{line: number[][], range: number[], moment: number, backwards: boolean, kind?: string, add?: (share: number, height: number) => void, children?: unknown}} options
 * `line`: shares of the film and values; `moment`: the share that is looked at; `add`: where it is double-clicked */
export function Graph({ line, range, moment, backwards, kind = "", add, children }) {
  const x = (/** @type {number} */ share) => 100 * (backwards ? 1 - share : share),
    text = (/** @type {number} */ value) => Number(value.toPrecision(3));
  const click = (/** @type {MouseEvent} */ event) => {
    const { left, bottom, width, height } = /** @type {Element} */ (
        event.currentTarget
      ).getBoundingClientRect(),
      share = (event.clientX - left) / width;
    if (!(/** @type {Element} */ (event.target).closest("button")))
      add?.(backwards ? 1 - share : share, (bottom - event.clientY) / height);
  };
  return html`<div class=${`film-keys graph${kind}`} onDblClick=${click}>
    <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true"><path class="now" d=${`M${x(moment)} 0V100`} />
      <path d=${line.map(([share, value], k) => `${k ? "L" : "M"}${x(share).toFixed(2)} ${(100 - 100 * heightOf(range, value)).toFixed(2)}`).join("")} /></svg>
    ${add && html`<span class="faint">${text(range[1])}</span><span class="faint low">${text(range[0])}</span>`}${children}</div>`;
}

/** How the film or a value comes to a key. @param {{label: string, value?: string, put: (ease: EaseName) => void}} options */
export const Ease = ({ label, value = "soft", put }) =>
  html`<${Select} label=${label} choices=${EASES} value=${value} put=${put} />`;
