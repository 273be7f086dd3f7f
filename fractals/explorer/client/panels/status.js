/** The status line: zoom in numbers and words, what is being drawn; and what screen readers hear. */
import { html, useEffect, useSignal, useSignalEffect } from "../html.js";
import { decimal, scaleWords, spoken } from "./scale.js";

const PATIENCE_MS = 300; // before work is named: most views are drawn by then
const LEAST_S = 1; // that are told: less is over when it is read
/** @type {Record<string, string>} */
const DOING = {
  preparing: "Preparing",
  compiling: "Compiling, the first time only",
  reference: "Computing the reference orbit",
  drawing: "Drawing",
  exact: "Refining",
};

/** @typedef {{text: string, busy: boolean, wait: number}} Doing `wait`: ms until it is told */

/** Return what is being done.
 * @param {Pick<import("../explorer.js").Explorer, "connected"|"paused"|"drawn"|"status">} explorer @returns {Doing} */
export function doing({ connected, paused, drawn, status }) {
  const rest = (/** @type {string} */ text) => ({ text, busy: false, wait: 0 });
  if (!connected) return rest("Not connected");
  if (paused) return rest("Paused");
  if (drawn?.said !== undefined)
    return drawn.pass === "exact"
      ? rest(drawn.said)
      : { text: `Refining · ${drawn.said}`, busy: true, wait: 0 };
  const limit = `limit ${drawn?.max_iterations?.toLocaleString("en")}`;
  if (drawn?.pass === "exact") return rest(limit + (drawn.note ? " · counts may be wrong" : ""));
  if (drawn?.pass === "values") return { text: `Refining · ${limit}`, busy: true, wait: 0 };
  const text = DOING[status?.what ?? "drawing"];
  return { text, busy: true, wait: PATIENCE_MS };
}

/** Return words for the seconds until the picture is sharp; empty: too few. @param {number} seconds */
export function soonWords(seconds) {
  if (!(seconds >= LEAST_S)) return "";
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  return seconds < 3600 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}

/** A ring that fills with the share of the work that is done, and the seconds that are left, which are counted down. */
function Ring(/** @type {{share: number, left: number}} */ { share, left }) {
  const seconds = useSignal(left);
  useEffect(() => {
    seconds.value = left;
    const begun = performance.now();
    const counting = setInterval(() => {
      seconds.value = left - (performance.now() - begun) / 1000;
    }, 1000);
    return () => clearInterval(counting);
  }, [share, left]);
  const words = soonWords(seconds.value);
  return html`<i class="work-ring" style=${{ "--share": share }} aria-hidden="true"></i>${words && html`<span class="seconds-left" title="Until the picture is sharp, about">${words}</span>`}`;
}

export function StatusLine(
  /** @type {{explorer: import("../explorer.js").Explorer}} */ { explorer },
) {
  const told = useSignal({ text: "", busy: false }),
    heard = useSignal("");
  useSignalEffect(() => {
    const { text, busy, wait } = doing(explorer),
      { placed, drawn } = explorer;
    if (drawn?.pass === "exact")
      heard.value = `zoom ${spoken(placed?.zoom)}, drawn${drawn.note ? `: ${drawn.note}` : ""}`;
    const waiting = setTimeout(() => {
      told.value = { text, busy };
    }, wait);
    return () => clearTimeout(waiting);
  });
  const { placed, drawn, status } = explorer,
    { text, busy } = told.value;
  return html`<div class="status-place"><footer class=${`status glass${busy ? " busy" : ""}`} aria-label="Status">
    <span class="zoom">${placed && decimal(placed.zoom)}</span><span class="scale">${placed && scaleWords(placed.octaves)}</span>
    <span class="doing">${busy && typeof status?.share === "number" ? html`<${Ring} share=${status.share} left=${status.left ?? 0} />` : html`<i class="dot" aria-hidden="true"></i>`}<span class="state" title=${drawn?.note ?? ""}>${text}</span></span></footer>
    <p class="hidden-text" role="status" aria-live="polite">${heard.value}</p></div>`;
}
