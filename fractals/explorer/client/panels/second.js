/**
 * A second live view beside the picture: the Julia set of a point of it, the same place in other colors or of another
 * formula, or any other view. It is a client of its own; panels act on the picture, and Swap exchanges the two.
 */
import { Explorer } from "../explorer.js";
import { apply } from "../frames.js";
import { attachGestures } from "../gestures.js";
import { effect, html, untracked } from "../html.js";
import { views } from "../keys.js";
import { canvasOf } from "../picture.js";
import { watchSize } from "../stage.js";
import { observe, SECOND } from "../state.js";
import { Button, captured, Drawn, Knob, Segments } from "../ui.js";
import { say } from "../words.js";
import { canFly, difference, offset } from "./flight.js";
import { decimal } from "./scale.js";

const KINDS = [
  ["julia", say("julia_set")],
  ["place", say("same_place")],
  ["free", say("free")],
];
const SLOW_MS = 600; // after which the next Julia set is asked for, though this one is not drawn
const REST_MS = 250; // after a move, before the places are compared
const FIRST = 512; // pixels of the width of a picture that stands there first
const LEAST = 0.2; // of the window, for either view
const root = document.documentElement;

/** Tell whether one view lies above the other. */
const isTall = () => matchMedia("(orientation: portrait)").matches;

/** Return the scene of a view with the place of now. */
function sceneOf(/** @type {Explorer} */ { scene, placed: { center, width, rotation } }) {
  return { ...scene, view: { ...scene.view, center, width, rotation } };
}

/** Tell whether two views show the same place, by less than a pixel. */
function isSame(
  /** @type {Explorer} */ { placed: one, size },
  /** @type {Explorer} */ { placed: two },
) {
  const apart = [
    ...[0, 1].map((k) => difference(one.center[k], two.center[k], one.width)),
    difference(one.width, two.width, one.width),
  ];
  return (
    apart.every((each) => Math.abs(each) * size[0] < 0.5) &&
    Math.abs(one.rotation - two.rotation) < 0.01
  );
}

export function secondView(/** @type {Context} */ { explorer, canvas, notify, julia: { middle } }) {
  // `ring`: where the point of the Julia set lies, in CSS pixels; `dragged`: as long as it is moved; `first`: a small
  // picture that stands there until one is drawn
  const own = observe({
    other: /** @type {Explorer|null} */ (null),
    kind: "free",
    cut: 0.5,
    ring: /** @type {number[]|null} */ (null),
    dragged: /** @type {number[]|null} */ (null),
    first: /** @type {HTMLCanvasElement|null} */ (null),
  });
  let point = /** @type {string[]|null} */ (null); // of the Julia set
  let wanted = /** @type {{where: number[]|undefined, step: string}|null} */ (null),
    running = false; // the next point, in sixteenths of a pixel; whether Julia sets are drawn one after the other
  let watch = /** @type {ResizeObserver|null} */ (null);
  let leader = explorer,
    mirroring = false,
    waiting = 0; // who was moved last; whether a move is passed on

  const isMap = () => Boolean(explorer.placed?.values && canFly(explorer));
  const isAlike = (/** @type {Explorer} */ { scene }, /** @type {keyof Scene} */ key) =>
    JSON.stringify(scene?.[key]) === JSON.stringify(explorer.scene[key]);
  const juliaOf = (/** @type {string[]|null} */ julia, /** @type {Scenes.View} */ view = {}) => ({
    ...explorer.scene,
    title: "",
    author: "",
    rights: "",
    note: "",
    julia,
    view,
  });
  const at = (/** @type {number[]} */ ring) =>
    ring.map((/** @type {number} */ part) =>
      Math.round((16 * part * canvas.width) / canvas.clientWidth),
    );

  async function open(/** @type {string} */ kind, where = middle()) {
    const told =
      kind === "julia"
        ? await explorer
            .request({ t: "pick", at: where })
            .catch((/** @type {Error} */ error) => void notify(error.message, "error"))
        : { center: null };
    if (own.other || !told) return;
    point = told.center;
    /** @type {Explorer|null} */
    let asked = null; // the view whose first picture is asked for
    if (point)
      explorer.julia({ at: where }, (preview) => {
        if (own.other && own.other === asked && !own.other.drawn) own.first = canvasOf(preview);
      });
    else own.first = explorer.still(FIRST);
    make(kind, point ? juliaOf(point) : sceneOf(explorer));
    asked = own.other;
  }

  /** Make the view, of a scene. */
  function make(/** @type {string} */ kind, /** @type {Scene} */ scene) {
    const made = Object.assign(document.createElement("canvas"), { id: "second", tabIndex: 0 });
    made.setAttribute("role", "application");
    made.setAttribute("aria-label", say("second_picture_arrow_keys_move"));
    canvas.after(made);
    root.classList.add("two");
    const { values } = explorer.stage.renderer;
    const other = new Explorer(made, {
      plain: !values,
      software: values,
      remote: explorer.remote,
      first: { scene },
      second: true,
    });
    let begun = false;
    watch = watchSize(made, (size) => {
      if (begun) return other.resize(size);
      begun = true;
      [made.width, made.height] = size;
      other.connection.connect();
    });
    attachGestures(other, made);
    views.set(made, other);
    other.addEventListener("drawn", () => (own.first = null)); // a preview may come late
    other.addEventListener("message", ({ detail }) => notify(detail.text, detail.kind, detail));
    mirror(other, () => explorer);
    Object.assign(own, { other, kind });
    leader = explorer;
  }

  function close() {
    const { other } = own;
    if (!other) return false;
    own.other = own.ring = own.first = wanted = null;
    watch?.disconnect();
    other.end();
    views.delete(other.stage.canvas);
    other.stage.canvas.remove();
    root.classList.remove("two");
    canvas.focus({ preventScroll: true });
    return true;
  }

  addEventListener("pagehide", () => {
    const { other, kind } = own;
    try {
      if (other?.placed)
        sessionStorage.setItem(SECOND, JSON.stringify({ kind, point, scene: sceneOf(other) }));
      else sessionStorage.removeItem(SECOND);
    } catch {
      // too much, or no storage
    }
  });
  /** Show again what a page before this one has left. */
  function resume(
    /** @type {{kind: string, point: string[]|null, scene: Scene}} */ {
      kind,
      point: before,
      scene,
    },
  ) {
    point = before;
    if (!own.other) make(kind, scene);
  }

  function choose(/** @type {string} */ kind) {
    own.kind = kind;
    const { other } = own;
    if (!other) return;
    if (kind === "place")
      other.open(
        {
          scene: {
            ...(isAlike(other, "julia") ? other.scene : explorer.scene),
            view: sceneOf(explorer).view,
          },
        },
        "",
        { jump: false },
      );
    if (kind === "julia") show(own.ring ? at(own.ring) : middle());
  }

  function swap() {
    const { other } = own;
    if (!other?.placed) return;
    const [mine, its] = [sceneOf(explorer), sceneOf(other)];
    if (own.kind === "julia") own.kind = "free";
    explorer.open({ scene: its });
    other.open({ scene: mine }, "", { jump: false });
  }

  /** Show the Julia set of a point of the picture; of points that follow each other fast, the newest. @returns {boolean} whether it is shown here */
  function show(/** @type {number[]|undefined} */ where, step = "") {
    if (!own.other || own.kind !== "julia" || !isMap()) return false;
    wanted = { where, step };
    if (!running) following();
    return true;
  }

  async function following() {
    running = true;
    while (wanted && own.other) {
      const { where = middle(), step } = wanted,
        { other } = own;
      wanted = null;
      const told = await explorer.request({ t: "pick", at: where }).catch(() => null);
      if (!told || own.other !== other || own.kind !== "julia") continue;
      point = told.center;
      await shown(other, step);
    }
    running = false;
    own.dragged = null;
    ring();
  }

  /** Have the Julia set drawn, at the place where the user is in it; wait for a first picture. */
  function shown(/** @type {Explorer} */ other, step = "") {
    const { placed } = other,
      { center, width, rotation } = placed ?? {};
    other.open(
      {
        scene: juliaOf(
          point,
          placed?.julia && isAlike(other, "formula") ? { center, width, rotation } : {},
        ),
      },
      step,
      { jump: false },
    );
    return new Promise((resolve) => {
      other.addEventListener("drawn", resolve, { once: true });
      setTimeout(resolve, SLOW_MS);
    });
  }

  /** Lay the ring on its point. */
  function ring() {
    if (own.dragged) return;
    if (!own.other || own.kind !== "julia" || !point || !isMap()) return void (own.ring &&= null);
    const { placed, map } = explorer,
      ratio = canvas.clientWidth / canvas.width;
    const [x, y] = apply(
      map,
      offset(point, explorer, explorer.scene.view.mirror).map(
        (part, k) => part + placed.size[k] / 2,
      ),
    ).map((part) => part * ratio);
    const inside = x > 0 && y > 0 && x < canvas.clientWidth && y < canvas.clientHeight;
    if (own.ring?.[0] !== x || own.ring?.[1] !== y || !inside) own.ring = inside ? [x, y] : null;
  }
  explorer.addEventListener("frame", ring);
  explorer.addEventListener("placed", ({ detail }) => {
    if (!own.other || own.kind !== "julia" || !detail.scene) return;
    if (!isMap())
      own.kind = "free"; // a Julia set has no Julia sets
    else if (own.other.scene && !isAlike(own.other, "formula")) shown(own.other);
  });
  effect(() => {
    // a Julia set has the colors of its map
    const { scene } = explorer,
      { other, kind } = own;
    untracked(() => {
      if (kind === "julia" && other?.placed?.julia && isMap() && !isAlike(other, "color"))
        other.paint(scene.color);
    });
  });

  /** Pass moves of a view on to another one, as long as both show the same place. */
  function mirror(/** @type {Explorer} */ from, /** @type {() => Explorer|null} */ to) {
    const passes = () => own.kind === "place" && own.other && to()?.placed;
    from.addEventListener("moved", ({ detail }) => {
      if (mirroring || !passes()) return;
      leader = from;
      const other = to();
      if (!detail || !other) return;
      const scale = other.size[0] / from.size[0],
        point = detail.at.map((/** @type {number} */ part, /** @type {number} */ k) =>
          Math.round(8 * other.size[k] + (part - 8 * from.size[k]) * scale),
        );
      mirroring = true;
      other.move({
        ...detail,
        at: point,
        by: detail.by.map((/** @type {number} */ part) => Math.round(part * scale)),
        about: undefined,
        stage: "moving",
        step: "gesture together",
      });
      mirroring = false;
    });
    from.addEventListener("jump", () => {
      leader = from;
    });
    from.addEventListener("placed", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        const ahead = leader,
          behind = ahead === explorer ? own.other : explorer;
        if (!passes() || !ahead.placed || !behind?.placed || isSame(ahead, behind)) return;
        behind.open({ scene: { ...behind.scene, view: sceneOf(ahead).view } }, "", { jump: false });
      }, REST_MS);
    });
  }
  mirror(explorer, () => own.other);

  const put = (/** @type {number[]} */ to, /** @type {string} */ step) => {
    own.ring = own.dragged = to;
    show(at(to), step);
  };

  /** The line between the views. */
  function Line() {
    const put = (/** @type {number} */ share) => {
      own.cut = Math.min(1 - LEAST, Math.max(LEAST, share));
      root.style.setProperty("--cut", `${100 * own.cut}%`);
    };
    const key = (/** @type {KeyboardEvent} */ event) => {
      const by = /** @type {Record<string, number>} */ ({
        ArrowLeft: -0.05,
        ArrowUp: -0.05,
        ArrowRight: 0.05,
        ArrowDown: 0.05,
      })[event.key];
      if (by) (event.preventDefault(), put(own.cut + by));
    };
    const drag = (/** @type {PointerEvent} */ { currentTarget, pointerId, clientX, clientY }) =>
      /** @type {Element} */ (currentTarget).hasPointerCapture(pointerId) &&
      put(isTall() ? clientY / innerHeight : clientX / innerWidth);
    return html`<div class="split between" role="slider" tabindex="0" aria-label=${say("where_the_second_view_begins")} aria-valuemin=${100 * LEAST} aria-valuemax=${100 - 100 * LEAST} aria-valuenow=${Math.round(100 * own.cut)}
      onKeyDown=${key} onPointerMove=${drag} onPointerDown=${captured}></div>`;
  }

  function View() {
    const { other, kind } = own;
    if (!other) return null;
    const { placed, lost, drawn } = other;
    return html`${own.first && html`<div class="second-first"><${Drawn} picture=${own.first} /></div>`}<${Line} /><div class="second-bar glass" role="group" aria-label=${say("second_view")}>
        <${Segments} label=${say("what_the_second_view_shows")} choices=${KINDS.filter(([name]) => name !== "julia" || isMap())} value=${kind} put=${choose} />
        <${Button} label=${say("swap_the_two_views")} symbol="swap" bare kind="quiet" title=${say("swap_the_two_views_panels")} disabled=${!placed} onClick=${swap} />
        <${Button} label=${say("close_the_second_view")} symbol="close" bare kind="quiet" onClick=${close} /></div>
      <p class="second-state glass">${lost || (placed ? say("zoom_at", { zoom: decimal(placed.zoom) }) + (drawn?.pass === "exact" ? "" : ` · ${say("drawing")}`) : say("opening"))}</p>
      ${own.ring && html`<${Knob} label=${say("point_of_the_julia_set")} kind="ring" at=${own.ring} put=${put} />`}`;
  }
  return {
    View,
    close,
    resume,
    show,
    /** Open the view, or close it; `where`: with the Julia set of this point, in sixteenths of a pixel. @param {number[]} [where] */
    toggle: (where = undefined) => {
      if (!where && close()) return;
      if (!own.other) open(isMap() ? "julia" : "place", where);
      else if (isMap()) ((own.kind = "julia"), show(where));
    },
  };
}
