/** The road from a picture of the gallery to a poster: four panels, in their order. */
import { html } from "../html.js";
import { Segments } from "../ui.js";
import { say } from "../words.js";

const STATIONS = [
  ["gallery", say("choose")],
  ["surprise", say("vary")],
  ["color", say("color")],
  ["export", say("print")],
];

/** Do something once the scene is drawn that was just asked for; what is drawn before is the one that is left.
 * @param {import("../explorer.js").Explorer} explorer @param {() => void} run */
export function onceDrawn(explorer, run) {
  const ended = new AbortController(),
    { signal } = ended;
  explorer.addEventListener(
    "drawn",
    () => {
      if (explorer.opening) return;
      ended.abort();
      run();
    },
    { signal },
  );
  // Another scene is wanted, or this one can't be drawn.
  explorer.addEventListener("opening", () => ended.abort(), { signal });
  explorer.addEventListener("message", ({ detail }) => detail.kind === "error" && ended.abort(), {
    signal,
  });
}

/** @param {{at: string, open: (id: string) => void}} options */
export const Road = ({ at, open }) =>
  html`<div class="road" data-about=${say("the_road_from_a_picture")}><${Segments} label=${say("from_a_picture_to_a")} choices=${STATIONS} value=${at} put=${(/** @type {string} */ id) => id !== at && open(id)} /></div>`;
