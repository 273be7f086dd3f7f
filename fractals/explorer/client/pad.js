/**
 * A gamepad: the left stick moves the picture, the right one turns it, the triggers zoom in and out. Over a solid the left stick
 * flies, the right one looks around, the triggers fly ahead and back, and the cross goes up and down.
 */
import { breaking, fly, pulled, soarWhile, wholes } from "./hold.js";

const PACE = 0.9; // of the picture's shorter side a second, by a stick at its end
const OCTAVES = 3; // a second, by a trigger that is pressed down
const WORN = 0.12; // of a stick's way, within which one that is worn out rests
const SPIN = 6000; // hundredths of a degree a second
const BACK = 6,
  AHEAD = 7,
  UP = 12,
  DOWN = 13; // buttons of the standard layout: triggers, cross
const STANDARD = "standard"; // layout of sticks and buttons
/** @typedef {Pick<Gamepad, "axes"|"buttons"> & Partial<Pick<Gamepad, "mapping"|"connected">>} Pad */
let count = 0;

/** Return a stick's way, slow near its middle. @param {number} x @param {number} y @returns {number[]} */
function stick(x = 0, y = 0) {
  const far = Math.hypot(x, y),
    strength = far > WORN ? pulled(far) : 0;
  return far ? [(x / far) * strength, (y / far) * strength] : [0, 0];
}

/** Return what a pad wishes: `move` and `look` to the right and down, `zoom` in and `rise`, each from -1 to 1; null: nothing.
 * Of a pad without the standard layout only the first stick and the buttons count: other axes may be triggers, which rest at -1.
 * @param {Pad} pad @returns {{move: number[], look: number[], zoom: number, rise: number}|null} */
export function wishOf({ axes, buttons, mapping = STANDARD }) {
  const value = (/** @type {number} */ k) => buttons[k]?.value ?? 0;
  const wish = {
    move: stick(axes[0], axes[1]),
    look: mapping === STANDARD ? stick(axes[2], axes[3]) : [0, 0],
    zoom: pulled(value(AHEAD)) - pulled(value(BACK)),
    rise: value(UP) - value(DOWN),
  };
  return Object.values(wish).flat().some(Boolean) ? wish : null;
}

/** Follow the first gamepad that is connected, of the standard layout if there is one. @param {import("./explorer.js").Explorer} explorer
 * @param {{page?: any, pads?: () => (Pad|null)[]}} [given] */
export function attachPad(
  explorer,
  { page = globalThis, pads = () => navigator.getGamepads() } = {},
) {
  let wish = /** @type {ReturnType<typeof wishOf>} */ (null),
    flight = /** @type {AbortController|null} */ (null),
    spent = false, // whether a flight was ended, and its sticks have not come back yet
    polling = false;

  function takeOff() {
    explorer.dispatchEvent(new Event("gesture"));
    const step = `gesture pad ${(count += 1)}`,
      [across, down, zoom, turn] = Array.from({ length: 4 }, wholes),
      mine = (flight = new AbortController());
    const none = { move: [0, 0], look: [0, 0], zoom: 0, rise: 0 };
    const stop = explorer.placed?.camera
      ? soarWhile(explorer, {
          way: () => {
            const { move, look, zoom: ahead, rise } = wish ?? none;
            return [move[0], rise, Math.max(-1, Math.min(1, ahead - move[1])), look[0], -look[1]];
          },
          step,
        })
      : fly(explorer, (seconds) => {
          const { move, look, zoom: deeper } = wish ?? none,
            pace = -16 * PACE * Math.min(...explorer.size) * seconds,
            by = [across(pace * move[0]), down(pace * move[1])],
            scale = zoom(64 * OCTAVES * deeper * seconds),
            spin = turn(-SPIN * look[0] * seconds);
          if (by[0] || by[1] || scale || spin)
            explorer.move({ by, scale, turn: spin, stage: "moving", step });
        });
    breaking(explorer, page, mine);
    mine.signal.addEventListener("abort", () => {
      flight = null;
      spent = true;
      stop();
    });
  }

  function poll() {
    const there = [...pads()].filter((each) => each && each.connected !== false),
      found = there.find((each) => each?.mapping === STANDARD) ?? there[0];
    polling = Boolean(found);
    if (!found) {
      flight?.abort();
      spent = false; // another pad's buttons are pressed anew
      return;
    }
    wish = wishOf(found);
    if (!wish) {
      flight?.abort();
      spent = false;
    } else if (!flight && !spent && explorer.placed) takeOff();
    page.requestAnimationFrame(poll);
  }
  page.addEventListener("gamepadconnected", () => {
    if (!polling) poll();
  });
  poll();
}
