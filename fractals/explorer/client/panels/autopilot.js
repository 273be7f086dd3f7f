/** The autopilot: a slow flight from one interesting place to the next, until the user takes over. */
import { observe } from "../state.js";
import { still } from "../ui.js";
import { say } from "../words.js";

const SPEED = 0.35; // of a path's length a second: about 0.7 octaves
const CHOICE = 3; // of the best views, one is chosen by chance
const DEEPEST = 160; // octaves of a dive; it then rises, and begins another one
const HOPS = 6; // from view to view of a solid, each nearer; then it begins anew
const RISE = 4; // octaves, where nothing is found
const REST_MS = 1500; // at a place, at least; the next one is searched for meanwhile

export function autopilotTool(
  /** @type {Pick<Context, "explorer"|"notify"|"ui">} */ { explorer, notify, ui },
) {
  const own = observe({ on: false });
  let flight = /** @type {ReturnType<typeof import("./flight.js").flyTo>|null} */ (null),
    job = /** @type {Job|null} */ (null),
    count = 0;

  function stop() {
    if (!own.on) return false;
    own.on = false;
    ui.bare = false;
    flight?.stop();
    job?.cancel();
    return true;
  }
  const rest = (/** @type {number} */ ms) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms);
    });

  /** Return a view to fly to; undefined where nothing in the view differs.
   * @returns {Promise<{camera?: Camera, way?: number[][], center?: string[], octaves?: number}|undefined>} */
  async function next() {
    const mine = (job = explorer.job({ t: "find", what: "interesting" }));
    const { views } = await mine.done.catch((error) => {
      if (error.cancelled) stop();
      return /** @type {Partial<Received.Found>} */ ({});
    });
    job = null;
    const view = views?.[Math.floor(Math.random() * Math.min(CHOICE, views.length))];
    if (view?.camera) return { camera: view.camera, way: view.way ?? [] };
    return view && { center: view.center ?? undefined, octaves: explorer.placed.octaves + 3 }; // such a view is an eighth as wide
  }

  async function start() {
    if (own.on || !explorer.placed) return;
    if (still()) return void notify(say("the_autopilot_is_off_because"));
    own.on = true;
    const file = await import("./flight.js").catch(() => null);
    if (!own.on) return;
    if (!file?.canFly(explorer)) {
      own.on = false;
      notify(say(file ? "the_autopilot_flies_over_the" : "the_server_does_not_answer"));
      return;
    }
    const { flyAlong, flyTo } = file;
    count += 1;
    const step = `flight autopilot ${count}`,
      from = explorer.placed.octaves;
    ui.bare = true;
    notify(say("the_autopilot_flies_on_until"));
    let first = true,
      hops = 0;
    while (own.on) {
      const far = explorer.placed.camera ? hops >= HOPS : explorer.placed.octaves - from > DEEPEST;
      const [found] = await Promise.all([far ? null : next(), rest(first ? 0 : REST_MS)]);
      first = false;
      if (!own.on) break;
      if (explorer.placed.camera) {
        if (!found && !hops) {
          notify(say("the_autopilot_finds_nothing_here"));
          break;
        }
        hops = found ? hops + 1 : 0;
        if (found) flight = flyAlong(explorer, { camera: {}, way: [], ...found, step });
        else explorer.home();
        const arrived = found ? await flight?.done : true;
        flight = null;
        if (!arrived) break;
        continue;
      }
      const { center, octaves } = explorer.placed,
        target = { center, octaves: Math.max(0, octaves - RISE), ...found };
      if (!found && explorer.placed.octaves < 0.5) {
        notify(say("the_autopilot_finds_nothing_here"));
        break;
      }
      flight = flyTo(explorer, { ...target, step, speed: SPEED });
      const arrived = await flight.done;
      flight = null;
      if (!arrived) break;
    }
    stop();
  }
  explorer.addEventListener("gesture", stop);
  explorer.addEventListener("disconnected", stop);
  const toggle = () => {
    if (!stop()) start();
  };
  return {
    get on() {
      return own.on;
    },
    toggle,
    stop,
    commands: [
      {
        id: "autopilot",
        group: say("find"),
        title: say("autopilot_fly_from_one_place"),
        keys: ["a"],
        run: toggle,
      },
    ],
  };
}
