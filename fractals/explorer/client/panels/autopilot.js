/** The autopilot: a slow flight from one interesting place to the next, until the user takes over. */
import { observe } from "../state.js";
import { still } from "../ui.js";
import { say } from "../words.js";

export function autopilotTool(
  /** @type {Pick<Context, "explorer"|"notify"|"ui">} */ { explorer, notify, ui },
) {
  const own = observe({ on: false });
  let ended = new AbortController(),
    count = 0;

  function stop() {
    if (!own.on) return false;
    own.on = false;
    ui.bare = false;
    ended.abort();
    return true;
  }

  async function start() {
    if (own.on || !explorer.placed) return;
    if (still()) return void notify(say("the_autopilot_is_off_because"));
    own.on = true;
    const { signal } = (ended = new AbortController());
    const [way, file] = await Promise.all([import("./flight.js"), import("./pilot.js")]).catch(
      () => [],
    );
    if (signal.aborted) return;
    if (!way?.canFly(explorer)) {
      own.on = false;
      notify(say(way ? "the_autopilot_flies_over_the" : "the_server_does_not_answer"));
      return;
    }
    ui.bare = true;
    notify(say("the_autopilot_flies_on_until"));
    await file?.pilot({ explorer, notify }, `flight autopilot ${(count += 1)}`, signal);
    if (!signal.aborted) stop();
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
