/** The flight of the autopilot: from one interesting place to the next. */
import { say } from "../words.js";
import { flyAlong, flyTo } from "./flight.js";

const SPEED = 0.35; // of a path's length a second: about 0.7 octaves
const CHOICE = 3; // of the best views, one is chosen by chance
const DEEPEST = 160; // octaves of a dive; it then rises, and begins another one
const HOPS = 6; // from view to view of a solid, each nearer; then it begins anew
const RISE = 4; // octaves, where nothing is found
const REST_MS = 1500; // at a place, at least; the next one is searched for meanwhile

/** @typedef {{camera?: Camera, way?: number[][], center?: string[], octaves?: number}} Target */

/** Fly on until `signal` ends it, or nothing is found.
 * @param {Pick<Context, "explorer"|"notify">} context @param {string} step of undo @param {AbortSignal} signal */
export async function pilot({ explorer, notify }, step, signal) {
  let flight = /** @type {ReturnType<typeof flyTo>|null} */ (null),
    job = /** @type {Job|null} */ (null),
    cancelled = false;
  signal.addEventListener("abort", () => {
    flight?.stop();
    job?.cancel();
  });
  const rest = (/** @type {number} */ ms) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms);
    });

  /** Return a view to fly to; undefined where nothing in the view differs. @returns {Promise<Target|undefined>} */
  async function next() {
    const mine = (job = explorer.job({ t: "find", what: "interesting" }));
    const { views } = await mine.done.catch((error) => {
      cancelled ||= error.cancelled;
      return /** @type {Partial<Received.Found>} */ ({});
    });
    job = null;
    const view = views?.[Math.floor(Math.random() * Math.min(CHOICE, views.length))];
    if (view?.camera) return { camera: view.camera, way: view.way ?? [] };
    return view && { center: view.center ?? undefined, octaves: explorer.placed.octaves + 3 }; // such a view is an eighth as wide
  }
  /** Fly to a view of a solid, or home where nothing is found; tell whether it arrived. @param {Target|null|undefined} found */
  async function hop(found) {
    if (!found) {
      explorer.home();
      return true;
    }
    flight = flyAlong(explorer, { camera: {}, way: [], ...found, step });
    return flight.done;
  }
  async function dive(/** @type {Target|null|undefined} */ found) {
    const { center, octaves } = explorer.placed,
      target = { center, octaves: Math.max(0, octaves - RISE), ...found };
    flight = flyTo(explorer, { ...target, step, speed: SPEED });
    return flight.done;
  }

  const from = explorer.placed.octaves;
  for (let hops = 0, first = true; ; first = false) {
    const { camera, octaves } = explorer.placed,
      far = camera ? hops >= HOPS : octaves - from > DEEPEST;
    const [found] = await Promise.all([far ? null : next(), rest(first ? 0 : REST_MS)]);
    if (signal.aborted || cancelled) return;
    if (!found && (explorer.placed.camera ? !hops : explorer.placed.octaves < 0.5))
      return notify(say("the_autopilot_finds_nothing_here"));
    hops = found ? hops + 1 : 0;
    const arrived = await (explorer.placed.camera ? hop(found) : dive(found));
    flight = null;
    if (!arrived || signal.aborted) return;
  }
}
