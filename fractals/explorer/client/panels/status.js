/** The status line: zoom in numbers and words, what is being drawn; and what screen readers hear. */

import { element } from "../ui.js";
import { decimal, scaleWords, spoken } from "./scale.js";

const PATIENCE_MS = 300; // before work is named: most views are drawn by then
const DOING = { preparing: "Preparing", compiling: "Compiling, the first time only", reference: "Computing the reference orbit", drawing: "Drawing", exact: "Refining" };

export function statusLine({ explorer, notify }) {
  const zoom = element("span.zoom");
  const scale = element("span.scale");
  const state = element("span.state");
  const dot = element("i.dot", { "aria-hidden": "true" });
  const live = element("p.hidden-text", { role: "status", "aria-live": "polite" });
  const node = element("footer.status.glass", { "aria-label": "Status" }, zoom, scale, element("span.doing", {}, dot, state));
  let waiting = 0;
  let question = null; // whether a paused view goes on
  const tell = (text, busy) => {
    state.textContent = text;
    node.classList.toggle("busy", busy);
  };
  const place = () => {
    const placed = explorer.placed;
    if (!placed) return;
    zoom.textContent = decimal(placed.zoom);
    scale.textContent = scaleWords(placed.octaves);
    question?.remove();
    drawing();
  };
  const drawing = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => tell("Drawing", true), PATIENCE_MS);
  };
  explorer.addEventListener("placed", place);
  explorer.addEventListener("painted", ({ detail }) => detail.values && drawing());
  explorer.addEventListener("status", ({ detail }) => {
    clearTimeout(waiting);
    const steps = detail.steps ? ` · ${detail.steps.toLocaleString("en")} steps` : "";
    waiting = setTimeout(() => tell((DOING[detail.what] ?? detail.what) + steps, true), PATIENCE_MS);
  });
  explorer.addEventListener("drawn", ({ detail }) => {
    if (detail.pass === "coarse") return drawing();
    clearTimeout(waiting);
    const done = detail.pass === "exact";
    const limit = `limit ${detail.max_iterations.toLocaleString("en")}`;
    const note = detail.note ? " · counts may be wrong" : "";
    tell(done ? limit + note : `Refining · ${limit}`, !done);
    state.title = detail.note ?? "";
    if (done) live.textContent = `zoom ${spoken(explorer.placed.zoom)}, drawn${detail.note ? `: ${detail.note}` : ""}`;
  });
  explorer.addEventListener("paused", ({ detail }) => {
    tell("Paused", false);
    question?.remove();
    question = notify(`This view has taken ${Math.round(detail.seconds)} s.`, "info", ["Go on", () => explorer.goOn()]);
  });
  explorer.addEventListener("disconnected", () => tell("Not connected", false));
  place();
  return element("div.status-place", {}, node, live);
}

