/**
 * Commands and their keys. Panels add theirs with `addCommands`.
 *
 * `keys` are like "Control+z", "Shift+N", "ArrowLeft", "j": modifiers Control (or Meta), Alt, Shift in
 * this order, then KeyboardEvent.key. Shift is left out where it only makes the character, as in "+".
 * Of commands with the same key, the newest runs; if its `run` returns false, the one before it does.
 * `start` and `stop` are called when a key is pressed, and when it or the focus is lost. A command whose `when` is false is
 * not there.
 *
 * @typedef {import("./explorer.js").Explorer} Explorer
 * @typedef {{id: string, title: string, group: string, keys: string[], run?: (explorer: Explorer) => boolean|void,
 *   start?: (explorer: Explorer) => void, stop?: (explorer: Explorer) => void, hidden?: boolean, when?: (explorer: Explorer) => boolean}} Command
 */
import { say } from "./words.js";
const OCTAVES_A_SECOND = 2;
const ARROW = 0.1; // of the picture's shorter side
const TURN = 1500; // hundredths of a degree

/** Views other than the page's, by their canvas: keys move the one that has the focus. @type {Map<EventTarget|null, Explorer>} */
export const views = new Map();
/** @type {Command[]} in the order of the list that the user sees */
export const commands = [];

/** @param {...Command} added */
export function addCommands(...added) {
  commands.push(...added);
}

const pan =
  (/** @type {number} */ x, /** @type {number} */ y) =>
  (/** @type {import("./explorer.js").Explorer} */ explorer) => {
    const step = 16 * Math.max(1, Math.round(ARROW * Math.min(...explorer.size)));
    explorer.move({ by: [x * step, y * step], step: `pan ${x} ${y}` });
  };
const zoom =
  (/** @type {number} */ scale) => (/** @type {import("./explorer.js").Explorer} */ explorer) =>
    explorer.move({ scale, step: `zoom ${scale}` });
const turn =
  (/** @type {number} */ angle) => (/** @type {import("./explorer.js").Explorer} */ explorer) =>
    explorer.move({ turn: angle, step: `turn ${angle}` });

/** Zoom about the pointer, or the middle, as long as the key is held. */
function dive(/** @type {number} */ direction) {
  let end = () => {},
    held = /** @type {object|null} */ (null), // the newest press
    count = 0;
  const stop = () => {
    held = null;
    end();
    end = () => {};
  };
  return {
    async start(/** @type {Explorer} */ explorer) {
      stop();
      const mine = (held = {}),
        file = await import("./hold.js").catch(() => null);
      if (!file || mine !== held) return; // it was released before
      end = file.zoomWhile(explorer, {
        at: () => {
          const at = explorer.pointer;
          return at ? [16 * at.x, 16 * at.y].map(Math.round) : undefined;
        },
        speed: () => direction * OCTAVES_A_SECOND,
        step: `gesture dive ${direction} ${++count}`, // one step of undo, however slowly it is drawn
      });
    },
    stop,
  };
}

addCommands(
  { id: "left", title: say("move_left"), group: say("move"), keys: ["ArrowLeft"], run: pan(1, 0) },
  {
    id: "right",
    title: say("move_right"),
    group: say("move"),
    keys: ["ArrowRight"],
    run: pan(-1, 0),
  },
  { id: "up", title: say("move_up"), group: say("move"), keys: ["ArrowUp"], run: pan(0, 1) },
  { id: "down", title: say("move_down"), group: say("move"), keys: ["ArrowDown"], run: pan(0, -1) },
  { id: "zoom-in", title: say("zoom_in"), group: say("move"), keys: ["+", "="], run: zoom(32) },
  { id: "zoom-out", title: say("zoom_out"), group: say("move"), keys: ["-"], run: zoom(-32) },
  { id: "dive", title: say("zoom_in_while_held"), group: say("move"), keys: ["z"], ...dive(1) },
  { id: "rise", title: say("zoom_out_while_held"), group: say("move"), keys: ["x"], ...dive(-1) },
  {
    id: "turn-left",
    title: say("turn_counter_clockwise"),
    group: say("move"),
    keys: ["["],
    run: turn(TURN),
  },
  {
    id: "turn-right",
    title: say("turn_clockwise"),
    group: say("move"),
    keys: ["]"],
    run: turn(-TURN),
  },
  {
    id: "upright",
    title: say("stand_upright"),
    group: say("move"),
    keys: ["\\"],
    run: (explorer) => explorer.upright(),
  },
  {
    id: "home",
    title: say("show_the_whole_set"),
    group: say("move"),
    keys: ["0", "Home"],
    run: (explorer) => explorer.home(),
  },
  {
    id: "undo",
    title: say("undo"),
    group: say("edit"),
    keys: ["Control+z"],
    run: (explorer) => explorer.undo(),
  },
  {
    id: "redo",
    title: say("redo"),
    group: say("edit"),
    keys: ["Control+y", "Control+Shift+Z"],
    run: (explorer) => explorer.redo(),
  },
);

/** Return the name of a key with its modifiers. @param {KeyboardEvent} event */
export function nameOf({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  const shift = shiftKey && (key.length > 1 || key.toLowerCase() !== key.toUpperCase());
  const name = key.length === 1 ? (shift ? key.toUpperCase() : key.toLowerCase()) : key;
  return `${ctrlKey || metaKey ? "Control+" : ""}${altKey ? "Alt+" : ""}${shift ? "Shift+" : ""}${name}`;
}

export const TEXT =
  ":is(input:not([type=range], [type=checkbox], [type=color], [type=file]), textarea)";
const MOVED = "button, a, summary, select, input, [role=slider]"; // what arrows, Enter and Space act on

/** Tell whether keys belong to a field, a list or a button and not to the picture. @param {KeyboardEvent} event */
function isTyping({ target, key, ctrlKey, metaKey }) {
  if (!(target instanceof HTMLElement) || key === "Escape" || /^F\d/.test(key)) return false;
  const command = ctrlKey || metaKey;
  // A field into which nothing is typed has nothing to undo.
  if (target.closest(TEXT)) return !(command && "zyZ".includes(key) && target.dataset.idle);
  if (target.closest("select") && key.length === 1 && !command) return true; // letters choose
  const moves =
    key.startsWith("Arrow") ||
    key.startsWith("Page") ||
    ["Home", "End", "Enter", " "].includes(key);
  return moves && target.closest(MOVED) !== null;
}

/** @param {Explorer} explorer @param {HTMLElement} canvas */
export function attachKeys(explorer, canvas) {
  /** @type {Map<string, () => void>} what ends held keys, by their code: another modifier changes a key's name */
  const held = new Map();
  const release = (/** @type {string} */ code) => {
    held.get(code)?.();
    held.delete(code);
  };

  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || isTyping(event)) return;
    const name = nameOf(event),
      mine = views.get(event.target) ?? explorer,
      found = commands
        .filter(({ keys, when }) => keys.includes(name) && (!when || when(mine)))
        .reverse();
    if (!found.length || (held.has(event.code) && event.repeat)) return;
    event.preventDefault();
    if (found[0].group === say("move")) mine.dispatchEvent(new Event("gesture"));
    if (!found[0].start) {
      found.find(({ run }) => run?.(mine) !== false);
      return;
    }
    held.set(event.code, () => found[0].stop?.(mine));
    found[0].start(mine);
  });
  addEventListener("keyup", ({ code }) => release(code));
  addEventListener("blur", () => [...held.keys()].forEach(release));
  canvas.focus({ preventScroll: true });
}
