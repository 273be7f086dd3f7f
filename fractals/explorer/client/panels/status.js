/** The status line: zoom in numbers and words, what is being drawn; and what screen readers hear. */
import { html, useEffect, useSignal, useSignalEffect } from "../html.js";
import { number, ofServer, say } from "../words.js";
import { decimal, scaleWords, spoken } from "./scale.js";

const PATIENCE_MS = 300; // before work is named: most views are drawn by then
const LEAST_S = 1; // that are told: less is over when it is read
/** @type {Record<string, string>} */
const DOING = {
  preparing: say("preparing"),
  compiling: say("compiling_the_first_time_only"),
  reference: say("computing_the_reference_orbit"),
  drawing: say("drawing"),
  exact: say("refining"),
};

/** @typedef {{text: string, busy: boolean, wait: number}} Doing `wait`: ms until it is told */

/** Return what is being done.
 * @param {Pick<import("../explorer.js").Explorer, "connected"|"paused"|"drawn"|"status">} explorer @returns {Doing} */
export function doing({ connected, paused, drawn, status }) {
  const rest = (/** @type {string} */ text) => ({ text, busy: false, wait: 0 });
  if (!connected) return rest(say("not_connected"));
  if (paused) return rest(say("paused"));
  if (drawn?.said)
    return drawn.pass === "exact"
      ? rest(ofServer(drawn.said))
      : { text: say("refining_with", { text: ofServer(drawn.said) }), busy: true, wait: 0 };
  const limit = drawn?.max_iterations ? say("limit", { count: number(drawn.max_iterations) }) : "";
  if (drawn?.pass === "exact") return rest(limit + (drawn.note ? say("counts_may_be_wrong") : ""));
  if (drawn?.pass === "values")
    return { text: say("refining_with", { text: limit }), busy: true, wait: 0 };
  if (status?.t === "failed") return rest(say("not_drawn"));
  const { what = "drawing", done, of } = status ?? {},
    text = done ? say("orbit_steps", { done: number(done), of: number(of ?? 0) }) : DOING[what];
  return { text, busy: true, wait: PATIENCE_MS };
}

/** Return the zoom in numbers and in words; where a camera is, the view has none.
 * @param {Pick<Received.Placed, "camera"|"zoom"|"octaves">|null} placed */
export const zoomOf = (placed) =>
  placed && !placed.camera ? [decimal(placed.zoom), scaleWords(placed.octaves)] : [];

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
  return html`<i class="work-ring" style=${{ "--share": share }} aria-hidden="true"></i>${words && html`<span class="seconds-left" title=${say("until_the_picture_is_sharp")}>${words}</span>`}`;
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
      heard.value = placed.camera
        ? ofServer(drawn.said ?? "")
        : say("zoom_drawn", {
            spoken: spoken(placed.zoom),
            value: drawn.note ? `: ${ofServer(drawn.note)}` : "",
          });
    const waiting = setTimeout(() => {
      told.value = { text, busy };
    }, wait);
    return () => clearTimeout(waiting);
  });
  const { placed, drawn, status } = explorer,
    { text, busy } = told.value,
    [zoom, scale] = zoomOf(placed);
  return html`<div class="status-place"><footer class=${`status glass${busy ? " busy" : ""}`} aria-label=${say("status")}>
    ${zoom && html`<span class="zoom" data-word=${say("zoom")}>${zoom}</span><span class="scale">${scale}</span>`}
    <span class="doing">${busy && typeof status?.share === "number" ? html`<${Ring} share=${status.share} left=${status.left ?? 0} />` : html`<i class="dot" aria-hidden="true"></i>`}<span class="state" title=${ofServer(drawn?.note ?? "")}>${text}</span></span></footer>
    <p class="hidden-text" role="status" aria-live="polite">${heard.value}</p></div>`;
}
