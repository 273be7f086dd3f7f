/** The status line: zoom in numbers and words, what is being drawn; and what screen readers hear. */
import { html, useSignal, useSignalEffect } from "../html.js";
import { decimal, scaleWords, spoken } from "./scale.js";

const PATIENCE_MS = 300; // before work is named: most views are drawn by then
/** @type {Record<string, string>} */
const DOING = {
  preparing: "Preparing",
  compiling: "Compiling, the first time only",
  reference: "Computing the reference orbit",
  drawing: "Drawing",
  exact: "Refining",
};

/** Return what is being done, whether that is work, and how long it waits until it is told. @returns {[string, boolean, number]} */
function doing(/** @type {Table} */ { connected, paused, drawn, status }) {
  if (!connected) return ["Not connected", false, 0];
  if (paused) return ["Paused", false, 0];
  if (drawn?.said !== undefined)
    return drawn.pass === "exact" ? [drawn.said, false, 0] : [`Refining · ${drawn.said}`, true, 0];
  const limit = `limit ${drawn?.max_iterations?.toLocaleString("en")}`;
  if (drawn?.pass === "exact")
    return [limit + (drawn.note ? " · counts may be wrong" : ""), false, 0];
  if (drawn?.pass === "values") return [`Refining · ${limit}`, true, 0];
  const steps = status?.steps ? ` · ${status.steps.toLocaleString("en")} steps` : "";
  return [(DOING[status?.what ?? "drawing"] ?? status.what) + steps, true, PATIENCE_MS];
}

export function StatusLine(
  /** @type {{explorer: import("../explorer.js").Explorer}} */ { explorer },
) {
  const told = useSignal(/** @type {[string, boolean]} */ (["", false])),
    heard = useSignal("");
  useSignalEffect(() => {
    const [text, busy, wait] = doing(explorer),
      { placed, drawn } = explorer;
    if (drawn?.pass === "exact")
      heard.value = `zoom ${spoken(placed?.zoom)}, drawn${drawn.note ? `: ${drawn.note}` : ""}`;
    const waiting = setTimeout(() => {
      told.value = [text, busy];
    }, wait);
    return () => clearTimeout(waiting);
  });
  const { placed, drawn } = explorer,
    [text, busy] = told.value;
  return html`<div class="status-place"><footer class=${`status glass${busy ? " busy" : ""}`} aria-label="Status">
    <span class="zoom">${placed && decimal(placed.zoom)}</span><span class="scale">${placed && scaleWords(placed.octaves)}</span>
    <span class="doing"><i class="dot" aria-hidden="true"></i><span class="state" title=${drawn?.note ?? ""}>${text}</span></span></footer>
    <p class="hidden-text" role="status" aria-live="polite">${heard.value}</p></div>`;
}
