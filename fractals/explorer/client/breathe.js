/**
 * What sliders do beyond a plain drag: a tenth of the way with Shift, a drag and a wheel on the number, and the usual value
 * by a double click or Delete.
 */
const FINE = 0.1; // of the way, with Shift
const LENGTH = 300; // CSS pixels of a drag on a number, from the least to the most
const NOTCH = 0.01; // of the way, by a wheel's notch
const NUDGE = 0.01; // by an arrow key, with Shift a tenth of it
const SLACK = 4; // CSS pixels: that a click may move
const ENDS = ["pointerup", "pointercancel"]; // of what may become a drag
const REST_MS = 400; // after the last notch or key, until the value is put

/** @typedef {Pick<PointerEvent, "currentTarget"|"pointerId"|"clientX">} Pressed */
/** @typedef {{least: number, most: number, log?: boolean, whole?: boolean, digits?: number}} Range `log`: equal steps are equal factors */

/** Return where a value lies between the least (0) and the most (1). @param {number} value @param {Range} range */
export function placeOf(value, { least, most, log = false }) {
  return log
    ? Math.log(Math.max(value, least) / least) / Math.log(most / least)
    : (value - least) / (most - least);
}

/** Return the value at a place, in as many digits as are shown and two more. @param {number} place @param {Range} range */
export function valueAt(place, { least, most, log = false, whole = false, digits = 3 }) {
  const at = Math.min(1, Math.max(0, place)),
    value = log ? least * (most / least) ** at : least + (most - least) * at;
  if (whole) return Math.round(value);
  const near = log ? value : Math.round((1e7 * value) / (most - least)) / (1e7 / (most - least)); // no 1e-17 beside 0
  return Number(near.toPrecision(digits + 2));
}

/** Return a value moved by a share of the way. @param {number} value @param {number} by @param {Range} range */
export function moved(value, by, range) {
  const to = valueAt(placeOf(value, range) + by, range);
  // Of whole numbers a small step is one.
  return range.whole && to === value && by
    ? Math.min(range.most, Math.max(range.least, value + Math.sign(by)))
    : to;
}

const ARROWS = /** @type {Record<string, number>} */ ({
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
});

/** Return the listeners of a slider and of its number.
 * @param {{range: Range, now: () => number, set: (value: number) => void, done: () => void, reset?: () => void,
 *   held: (event: Pressed, move: (moved: PointerEvent) => void, ended: () => void) => void, rest?: {current: number}}} given `set` gets the
 * values on the way, and `done` is called at the end; `reset` puts the usual value; `held` follows a pointer; `rest`: the timer, which all
 * renderings of a slider share: each notch renders it */
export function breathing({ range, now, set, done, reset, held, rest = { current: 0 } }) {
  const soon = () => {
    clearTimeout(rest.current);
    rest.current = setTimeout(done, REST_MS);
  };
  const drag = (/** @type {Pressed} */ event, /** @type {number} */ length) => {
    let { clientX: last } = event,
      place = placeOf(now(), range);
    held(
      event,
      ({ clientX, shiftKey }) => {
        place += ((clientX - last) / length) * (shiftKey ? FINE : 1);
        last = clientX;
        set(valueAt(place, range));
      },
      done,
    );
  };
  const slider = {
    onPointerDown: (/** @type {PointerEvent} */ event) => {
      if (!event.shiftKey || event.button !== 0) return;
      event.preventDefault(); // of the browser's own drag
      const own = /** @type {HTMLElement} */ (event.currentTarget);
      own.focus();
      drag(event, own.clientWidth);
    },
    onKeyDown: (/** @type {KeyboardEvent} */ event) => {
      if (reset && ["Delete", "Backspace"].includes(event.key)) {
        event.preventDefault();
        reset();
      }
      const way = ARROWS[event.key];
      if (!way || !event.shiftKey) return;
      event.preventDefault();
      set(moved(now(), way * NUDGE * FINE, range));
      soon();
    },
    onDblClick: reset,
  };
  const number = {
    onPointerDown: (/** @type {PointerEvent} */ event) => {
      const { currentTarget, clientX: from, pointerType, button } = event,
        field = /** @type {HTMLElement} */ (currentTarget);
      if (pointerType !== "mouse" || button !== 0 || field === document.activeElement) return;
      const follow = (/** @type {PointerEvent} */ moving) => {
        if (!moving.buttons) return stop(); // its end was told to nobody
        if (Math.abs(moving.clientX - from) < SLACK) return;
        stop();
        field.blur();
        const { pointerId, clientX } = moving;
        drag({ currentTarget: field, pointerId, clientX }, LENGTH);
      };
      const stop = () => {
        removeEventListener("pointermove", follow);
        for (const end of ENDS) removeEventListener(end, stop);
      };
      addEventListener("pointermove", follow);
      for (const end of ENDS) addEventListener(end, stop);
    },
    onWheel: (/** @type {WheelEvent} */ event) => {
      if (event.currentTarget !== document.activeElement || !event.deltaY) return; // else the panel scrolls
      event.preventDefault();
      set(moved(now(), -Math.sign(event.deltaY) * NOTCH * (event.shiftKey ? FINE : 1), range));
      soon();
    },
  };
  return { slider, number };
}
