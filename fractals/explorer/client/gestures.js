/**
 * Gestures of mouse, trackpad, pen and fingers: they become moves of the model.
 *
 * Events of the model, beside its own: "tap", "again" (a finger touches soon after a tap), "hold" (the picture begins to fly).
 */
import { still } from "./ui.js";

const NOTCH = 16; // 64ths of an octave that a notch of a wheel zooms
const DOUBLE = 128, // that a double click zooms
  MOST_TURNED = 512; // that one event of a wheel zooms, such as of one that spins freely while the page is busy
const PINCH = 0.92; // 64ths of an octave of a trackpad's pinch, per unit of its wheel events
const SLACK_ANGLE = 10,
  UPRIGHT = 4; // degrees: that fingers turn before the picture does; that snap to upright
const PRESS = 550; // ms that a long press takes at least
const HOLD = 500; // ms that a button or a finger is held at rest before the picture flies
const AGAIN = 280,
  NEAR = 28; // ms and CSS pixels between a tap and a finger that is held after it
// A flick: ms in which its speed is measured, CSS pixels per ms that begin it, and ms in which it loses most of its speed
const TRAIL = 100,
  FLICK = 0.25,
  GLIDE = 320;
const PIXELS_A_LINE = 33,
  SLACK = 4; // CSS pixels: of a wheel's line; that a click may move

/**
 * Gestures of the pointers that are down.
 * @typedef {{kind: "drag", step: string, from: number[], moved: number[], slack: boolean, began: number, trail: {time: number, point: number[]}[]}} Drag
 * @typedef {ReturnType<typeof spread>} Spread
 * @typedef {Spread & {kind: "pinch", step: string, scale: number, turn: number, slack: number, start: Spread}} Pinch
 * @typedef {ReturnType<typeof box> & {kind: "box"}} Box
 */

/** @param {import("./explorer.js").Explorer} explorer @param {HTMLCanvasElement} canvas */
export function attachGestures(explorer, canvas) {
  /** @type {Map<number, number[]>} pointers that are down: device pixels */
  const down = new Map();
  let gesture = /** @type {Drag|Pinch|Box|null} */ (null),
    lifted = /** @type {Drag|null} */ (null); // the one that became a flight
  let count = 0,
    wheel = 0,
    fingers = false,
    chosen = false, // whether this touch has opened the menu
    pressed = 0,
    holding = 0,
    tapped = /** @type {PointerEvent|null} */ (null); // the last tap
  /** @type {ReturnType<typeof import("./hold.js").holdTool>|null} */
  let hold = null; // which comes with the first press
  const load = async () => {
    const { holdTool, markOver } = await import("./hold.js");
    hold ??= holdTool(explorer, canvas, { mark: markOver(canvas) });
  };

  /** Return where an event is, in device pixels of the canvas. */
  const place = (/** @type {MouseEvent} */ event) => {
    const box = canvas.getBoundingClientRect();
    return [
      ((event.clientX - box.left) * canvas.width) / box.width,
      ((event.clientY - box.top) * canvas.height) / box.height,
    ];
  };
  const begun = () => explorer.dispatchEvent(new Event("gesture")); // ends a flight
  const fine = (/** @type {number[]} */ point) =>
    point.map((/** @type {number} */ part) => Math.round(16 * part));

  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      begun();
      const unit =
        event.deltaMode === WheelEvent.DOM_DELTA_LINE
          ? PIXELS_A_LINE
          : event.deltaMode === WheelEvent.DOM_DELTA_PAGE
            ? canvas.clientHeight
            : 1;
      const length = event.deltaY * unit;
      // A wheel turns by notches of 50 to 120 pixels; a trackpad by few pixels at a time.
      const notches =
        Math.abs(length) >= 50
          ? Math.sign(length) * Math.max(1, Math.round(Math.abs(length) / 110))
          : length / 100;
      wheel -= event.ctrlKey ? PINCH * length : NOTCH * notches;
      wheel = Math.max(-MOST_TURNED, Math.min(MOST_TURNED, wheel));
      const scale = Math.trunc(wheel);
      wheel -= scale;
      if (scale) explorer.move({ at: fine(place(event)), scale, step: "wheel" });
    },
    { passive: false },
  );

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button > 1) return;
    chosen = false;
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, place(event));
    if (hold?.on) return hold.reverse(true); // a second finger
    if (!hold) void load().catch(() => {});
    begun();
    const again = tapped && event.timeStamp - tapped.timeStamp < AGAIN && isNear(event, tapped);
    if (again) explorer.dispatchEvent(new Event("again"));
    const box = event.shiftKey && down.size === 1 && event.pointerType === "mouse";
    clearTimeout(pressed);
    clearTimeout(holding);
    if (down.size === 1 && !box && event.button === 0 && (again || event.pointerType !== "touch"))
      holding = setTimeout(() => takeOff(event.pointerId), HOLD);
    // Some browsers tell of a long press by "contextmenu", and others do not.
    else if (event.pointerType === "touch" && down.size === 1)
      pressed = setTimeout(() => press(event), PRESS);
    fingers = down.size > 1; // of a pinch, the last finger that leaves is no tap
    begin(box ? "box" : down.size === 1 ? "drag" : "pinch", event);
  });

  canvas.addEventListener("pointermove", (event) => {
    const point = place(event);
    tell(point);
    if (!down.has(event.pointerId)) return;
    down.set(event.pointerId, point);
    if (hold?.on && lifted && isHasty(event)) {
      drag(point, lifted, event.timeStamp);
      if (!lifted.slack) notHeld();
    }
    hold?.steer(point, event.pointerId);
    if (gesture?.kind === "drag") drag(point, gesture, event.timeStamp);
    else if (gesture?.kind === "pinch") pinch(gesture);
    else if (gesture?.kind === "box") gesture.show(point);
  });

  for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
    canvas.addEventListener(name, (event) => {
      if (!down.delete(event.pointerId)) return;
      clearTimeout(holding);
      if (hold?.on) {
        if (lifted && !isHasty(event)) return hold.reverse(false); // of two fingers the one that does not steer
        notHeld();
      }
      if (gesture?.kind === "pinch" && gesture.slack && Math.abs(explorer.rotation) < UPRIGHT)
        explorer.upright(gesture.step);
      const rested = gesture?.kind === "drag" && gesture.slack ? gesture : null; // however long it takes: a long press has ended the gesture
      const late =
        event.pointerType === "touch" && rested && event.timeStamp - rested.began >= PRESS; // a press, of which the timer of a busy page has not told yet
      if (rested && late && name === "pointerup" && !fingers) menu(event);
      else if (rested && name === "pointerup" && !fingers) {
        tapped = event.pointerType === "touch" ? event : null;
        explorer.dispatchEvent(
          new CustomEvent("tap", {
            detail: {
              touch: event.pointerType !== "mouse",
              at: fine(place(event)),
              alt: event.altKey,
            },
          }),
        );
      } else if (
        gesture?.kind === "drag" &&
        name === "pointerup" &&
        event.pointerType === "touch" &&
        !fingers
      )
        flick(event.timeStamp, gesture);
      if (gesture?.kind === "box") gesture.end(name === "pointerup" ? place(event) : null);
      gesture = null;
      if (down.size) begin(down.size === 1 ? "drag" : "pinch", event);
    });
  }
  canvas.addEventListener("pointerleave", () => tell(null));
  const menu = (/** @type {MouseEvent} */ event) => {
    chosen = true;
    explorer.dispatchEvent(
      new CustomEvent("menu", {
        detail: { at: fine(place(event)), x: event.clientX, y: event.clientY },
      }),
    );
  };
  // A browser may end a touch with a click, which would choose what the menu has put under the finger.
  canvas.addEventListener("touchend", (event) => chosen && event.preventDefault(), {
    passive: false,
  });
  canvas.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    if (hold?.on) return;
    leaveBox();
    gesture = null;
    menu(event);
  });
  const press = (/** @type {PointerEvent} */ event) => {
    if (gesture?.kind !== "drag" || !gesture.slack) return;
    gesture = null;
    menu(event);
  };

  const isNear = (/** @type {PointerEvent} */ one, /** @type {PointerEvent} */ other) =>
    Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) < NEAR;
  const isHasty = (/** @type {PointerEvent} */ event) =>
    event.timeStamp - /** @type {Drag} */ (lifted).began < HOLD;
  /** End a flight: it was a drag or a slow click, of which a busy page has told too late. */
  const notHeld = () => {
    hold?.end();
    gesture = lifted;
  };
  /** Fly, if the pointer has rested. @param {number} id */
  const takeOff = (id) => {
    const point = down.get(id);
    if (!hold || !point || gesture?.kind !== "drag" || !gesture.slack) return;
    lifted = gesture;
    gesture = null;
    hold.begin(point, id);
  };

  canvas.addEventListener("dblclick", (event) => {
    explorer.move({
      at: fine(place(event)),
      scale: event.shiftKey || event.altKey ? -DOUBLE : DOUBLE,
    });
  });

  function tell(/** @type {number[]|null} */ point) {
    explorer.pointer = point && { x: point[0], y: point[1] };
    explorer.dispatchEvent(new CustomEvent("pointer", { detail: explorer.pointer }));
  }

  function begin(/** @type {"drag"|"pinch"|"box"} */ kind, /** @type {PointerEvent} */ event) {
    leaveBox();
    const points = [...down.values()],
      step = `gesture ${++count}`;
    if (kind === "drag")
      gesture = {
        kind,
        step,
        from: points[0],
        moved: [0, 0],
        slack: true,
        began: event.timeStamp,
        trail: [],
      };
    else if (kind === "pinch")
      gesture = {
        kind,
        step,
        ...spread(points),
        scale: 0,
        turn: 0,
        slack: 0,
        start: spread(points),
      };
    else gesture = { kind, ...box(explorer, canvas, place(event)) };
  }

  /** Draw a box no more: another gesture takes its place. */
  function leaveBox() {
    if (gesture?.kind === "box") gesture.end(null);
  }

  /** Move by whole pixels, so that pixels stay pixels. */
  function drag(
    /** @type {number[]} */ point,
    /** @type {Drag} */ gesture,
    /** @type {number} */ time,
  ) {
    gesture.trail = [...gesture.trail.filter((each) => time - each.time < TRAIL), { time, point }];
    const { from, moved: before, slack, step } = gesture,
      moved = point.map((part, k) => Math.round(part - from[k]));
    if (slack && Math.hypot(...moved) < SLACK * devicePixelRatio) return;
    gesture.slack = false;
    const by = moved.map((part, k) => 16 * (part - before[k]));
    gesture.moved = moved;
    if (!by[0] && !by[1]) return;
    shift(by, step);
  }

  function shift(/** @type {number[]} */ by, /** @type {string} */ step) {
    const fly = looking(explorer, by);
    explorer.move({ ...(fly ? { fly } : { by }), stage: "moving", step });
  }

  /** Let the picture glide on after a finger that left it while it moved. */
  function flick(/** @type {number} */ time, /** @type {Drag} */ { trail, step }) {
    const [first, last] = [trail[0], trail.at(-1)];
    if (trail.length < 3 || !last) return;
    const took = last.time - first.time;
    if (took < TRAIL / 4 || time - last.time > TRAIL / 2 || still()) return;
    const speed = last.point.map((part, k) => (part - first.point[k]) / took);
    if (Math.hypot(...speed) < FLICK * devicePixelRatio) return;
    let moved = [0, 0],
      mine = false;
    const end = new AbortController(),
      begun = performance.now();
    const stop = () => {
      if (!mine) end.abort();
    };
    for (const event of ["gesture", "moved"])
      explorer.addEventListener(event, stop, { signal: end.signal });
    const glide = (/** @type {number} */ now) => {
      if (end.signal.aborted) return;
      const gone = Math.max(0, now - begun),
        share = GLIDE * (1 - Math.exp(-gone / GLIDE));
      const to = speed.map((part) => Math.round(part * share)),
        by = to.map((part, k) => 16 * (part - moved[k]));
      moved = to;
      mine = true;
      if (by[0] || by[1]) shift(by, step);
      mine = false;
      if (gone < 5 * GLIDE) requestAnimationFrame(glide);
      else end.abort();
    };
    requestAnimationFrame(glide);
  }

  /** Follow two fingers: their middle, distance and angle. */
  function pinch(/** @type {Pinch} */ gesture) {
    const { middle, length, angle } = spread([...down.values()]);
    const { start } = gesture;
    const scale = Math.round(64 * Math.log2(length / start.length));
    const twist = ((angle - start.angle + 540) % 360) - 180;
    if (Math.abs(twist) > SLACK_ANGLE) gesture.slack ||= Math.sign(twist) * SLACK_ANGLE;
    const turn = gesture.slack ? Math.round(100 * (twist - gesture.slack)) : 0;
    const at = fine(gesture.middle),
      by = fine(middle).map((part, k) => part - at[k]);
    let turned = (turn - gesture.turn) % 36_000;
    if (Math.abs(turned) > 18_000) turned -= Math.sign(turned) * 36_000;
    explorer.move({
      at,
      by,
      scale: scale - gesture.scale,
      turn: turned,
      stage: "moving",
      step: gesture.step,
      focus: fine(middle),
    });
    Object.assign(gesture, { middle, scale, turn });
  }
}

/** Return middle, distance and angle (degrees, counter-clockwise) of two points. @param {number[][]} points */
function spread([[a, b], [c, d]]) {
  return {
    middle: [(a + c) / 2, (b + d) / 2],
    length: Math.max(1, Math.hypot(c - a, d - b)),
    angle: (Math.atan2(b - d, c - a) * 180) / Math.PI,
  };
}

/** Draw a box from a point on; its end zooms into it, unless a listener of "selection" takes it. */
function box(
  /** @type {import("./explorer.js").Explorer} */ explorer,
  /** @type {HTMLCanvasElement} */ canvas,
  /** @type {number[]} */ from,
) {
  const frame = document.createElement("div");
  frame.className = "selection";
  canvas.after(frame);
  const rectOf = (/** @type {number[]} */ to) => [
    Math.min(from[0], to[0]),
    Math.min(from[1], to[1]),
    Math.max(from[0], to[0]),
    Math.max(from[1], to[1]),
  ];
  const show = (/** @type {number[]} */ to) => {
    const [x0, y0, x1, y1] = rectOf(to),
      ratio = canvas.clientWidth / canvas.width;
    const px = (/** @type {number} */ length) => `${length * ratio}px`;
    Object.assign(frame.style, {
      position: "absolute",
      left: `${canvas.offsetLeft + x0 * ratio}px`,
      top: `${canvas.offsetTop + y0 * ratio}px`,
      width: px(x1 - x0),
      height: px(y1 - y0),
    });
  };
  const end = (/** @type {number[]|null} */ to) => {
    frame.remove();
    if (!to) return;
    const rect = rectOf(to).map((part) => Math.round(16 * part)),
      [x0, y0, x1, y1] = rect;
    if (x1 - x0 < 128 || y1 - y0 < 128) return; // less than 8 pixels: a click
    const selected = new CustomEvent("selection", { detail: { rect }, cancelable: true });
    if (explorer.dispatchEvent(selected)) zoomInto(explorer, rect);
  };
  return { show, end };
}

/** Zoom until a rectangle fills what no panel covers. @param {import("./explorer.js").Explorer} explorer
 * @param {number[]} rect in sixteenths of a pixel */
function zoomInto(explorer, [x0, y0, x1, y1]) {
  const [width, height] = explorer.size,
    at = [Math.round((x0 + x1) / 2), Math.round((y0 + y1) / 2)];
  const { middle, share } = explorer.seen;
  const scale = Math.floor(
    64 * Math.log2(share * Math.min((16 * width) / (x1 - x0), (16 * height) / (y1 - y0))),
  );
  explorer.move({ at, by: middle.map((part, k) => part - at[k]), scale, focus: middle });
}

/** Return how a camera in flight turns where the picture is dragged; null: the picture moves.
 * @param {import("./explorer.js").Explorer} explorer @param {number[]} by sixteenths of a pixel */
function looking({ flying, placed, scene, size }, by) {
  if (!flying || !placed?.camera) return null;
  const degrees = (scene.camera?.field ?? 42) / size[1] / 16;
  return [0, 0, 0, Math.round(-100 * degrees * by[0]), Math.round(100 * degrees * by[1])];
}
