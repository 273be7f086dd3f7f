/** Solids: the focus by a click, and flights by keys and by touch. */
import { html } from "../html.js";
import { observe } from "../state.js";
import { whileHeld } from "../ui.js";
import { say } from "../words.js";

const SPEED = 700; // thousandths of the distance to the nearest surface that a flight takes a second
const LENS = 0.01; // of a camera that gets a focus, and has none
const PAD = 120; // CSS pixels: across the pad of a flight
const isSolid = (/** @type {import("../explorer.js").Explorer} */ { placed }) =>
  Boolean(placed?.camera);

/** Flights and the focus. `aim` tells whether the next click is the focus, and `camera` changes keys of the camera. */
export function spaceTool(/** @type {Pick<Context, "explorer"|"notify">} */ { explorer, notify }) {
  const own = observe({ aiming: false, stick: /** @type {number[]|null} */ (null) }); // aiming: the next click is the focus
  let count = 0;

  const camera = (/** @type {Camera} */ values, step = "") =>
    explorer.changeIn("camera", values, step);

  /** Make sharp what a point of the canvas shows. @param {number[]} at */
  async function focusAt(at) {
    own.aiming = false;
    const told = await explorer
      .request({ t: "pick", at })
      .catch((/** @type {Error} */ error) => notify(error.message, "error"));
    if (!told) return;
    if (told.focus === null) return void notify(say("there_is_no_surface_at"));
    camera({ focus: told.focus, lens: explorer.wished.camera?.lens || LENS });
  }
  explorer.addEventListener("tap", (event) => {
    if (!isSolid(explorer) || !(own.aiming || event.detail.alt)) return;
    event.stopImmediatePropagation(); // it does not hide the bars
    focusAt(event.detail.at);
  });

  /** Fly as long as something is held. @param {() => number[]} way to the right, up and ahead, from -1 to 1 @returns {() => void} */
  function fly(way) {
    const step = `flight ${(count += 1)} of the camera`,
      rest = [0, 0, 0];
    explorer.dispatchEvent(new Event("gesture"));
    return explorer.animate((/** @type {number} */ seconds) => {
      if (!isSolid(explorer)) return;
      const whole = way().map((part, k) => {
        rest[k] += part * SPEED * seconds;
        const now = Math.trunc(rest[k]);
        rest[k] -= now;
        return now;
      });
      if (whole.some(Boolean)) explorer.move({ fly: [...whole, 0, 0], stage: "moving", step });
    });
  }

  function held(/** @type {number[]} */ ...way) {
    let end = /** @type {(() => void)|null} */ (null);
    const stop = () => {
      end?.();
      end = null;
    };
    return {
      start: () => (stop(), (end = fly(() => way))),
      stop,
      when: isSolid,
      group: say("fly_over_a_solid"),
    };
  }
  const commands = [
    { id: "fly-ahead", title: say("fly_ahead"), keys: ["w"], ...held(0, 0, 1) },
    { id: "fly-back", title: say("fly_back"), keys: ["s"], ...held(0, 0, -1) },
    { id: "fly-left", title: say("fly_to_the_left"), keys: ["a"], ...held(-1, 0, 0) },
    { id: "fly-right", title: say("fly_to_the_right"), keys: ["d"], ...held(1, 0, 0) },
    { id: "fly-up", title: say("fly_up"), keys: ["e"], ...held(0, 1, 0) },
    { id: "fly-down", title: say("fly_down"), keys: ["q"], ...held(0, -1, 0) },
    {
      id: "fly-look",
      title: say("a_drag_looks_around_or"),
      group: say("fly_over_a_solid"),
      keys: ["Shift+F"],
      when: isSolid,
      run: () => {
        explorer.flying = !explorer.flying;
      },
    },
  ];

  const land = () => {
    const ended = own.aiming || (explorer.flying && isSolid(explorer));
    Object.assign(own, { aiming: false, stick: null });
    explorer.flying = false;
    return ended;
  };

  /** The pad that fingers fly with. */
  function View() {
    if (!explorer.flying || !isSolid(explorer)) return null;
    const [x, y] = own.stick ?? [0, 0];
    const grab = (/** @type {PointerEvent} */ event) => {
      event.preventDefault();
      const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
      const move = (/** @type {PointerEvent} */ { clientX, clientY }) => {
        const to = [
            (clientX - box.left) / (box.width / 2) - 1,
            (clientY - box.top) / (box.height / 2) - 1,
          ],
          far = Math.max(1, Math.hypot(...to));
        own.stick = to.map((part) => part / far);
      };
      move(event);
      const end = fly(() => [(own.stick ?? [0])[0], 0, -(own.stick ?? [0, 0])[1]]);
      whileHeld(event, move, () => {
        own.stick = null;
        end();
      });
    };
    return html`<div class="pad glass" style=${{ width: `${PAD}px`, height: `${PAD}px` }} aria-hidden="true" onPointerDown=${grab}>
      <i style=${{ left: `${50 * (1 + 0.6 * x)}%`, top: `${50 * (1 + 0.6 * y)}%` }}></i></div>`;
  }
  const flies = (/** @type {string} */ key) => commands.some(({ keys }) => keys.includes(key));
  /** Return the key of a command: where it flies over the solid that is shown, Shift is held, too. @param {string} key */
  const keyOf = (key) => (isSolid(explorer) && flies(key) ? `Shift+${key.toUpperCase()}` : key);
  /** Return the commands of flights, and those of others whose keys fly, with Shift. @param {import("../keys.js").Command[]} others */
  const withOthers = (others) => [
    ...commands,
    ...others
      .filter(({ keys }) => flies(keys[0]))
      .map((each) => ({
        ...each,
        id: `${each.id}-solid`,
        group: say("fly_over_a_solid"),
        keys: [`Shift+${each.keys[0].toUpperCase()}`],
        when: isSolid,
      })),
  ];
  return { View, aim: own, camera, focusAt, land, keyOf, withOthers };
}
