/** Masks of layers and groups: painted over the picture with a brush, or taken from a picture's file. */
import { html, useEffect, useLayoutEffect, useRef } from "../html.js";
import { newCanvas } from "../picture.js";
import { observe } from "../state.js";
import { Slider } from "../slider.js";
import { Button, FileButton, Segments, whileHeld } from "../ui.js";
import { say } from "../words.js";

const SIDE = 256,
  LARGEST = 512; // pixels of the longer side: of a mask that is painted, of a file's
const LEAST = 0.01,
  MOST = 0.6, // of the picture's width: sizes of the brush
  WHEEL = 1.15; // by which a notch of the wheel changes it
const TINT = [255, 40, 60],
  STRONG = 0.55; // of what is hidden, while it is painted

/** The state of the brush: whether a mask is painted, the mask, and `put`, which takes it. */
export const makeBrush = () =>
  observe(
    /** @type {Brushed} */ ({
      on: false,
      mask: null,
      size: 0.12,
      soft: 0.5,
      shows: false,
      put: () => {},
    }),
    "on",
    "mask",
    "size",
    "soft",
    "shows",
  );

/** Return where the picture lies now, for a mask that stays there. @param {import("../explorer.js").Explorer} explorer */
function viewOf({ placed: { center, width, rotation }, scene: { view = {} } }) {
  const { mirror = false, stretch = 1, stretch_angle = 0 } = view;
  return { center, width, rotation, mirror, stretch, stretch_angle };
}

const isHere = (
  /** @type {import("../explorer.js").Explorer} */ explorer,
  /** @type {Place} */ { center, width, rotation = 0 },
) => {
  const here = viewOf(explorer);
  return (
    JSON.stringify([center, width, rotation]) ===
    JSON.stringify([here.center, here.width, here.rotation])
  );
};

/** Return a canvas of a picture that is kept as text. @param {string} kept */
async function canvasOfText(kept) {
  const bytes = Uint8Array.from(atob(kept.slice(kept.indexOf(",") + 1)), (letter) =>
    letter.charCodeAt(0),
  );
  return drawn(await createImageBitmap(new Blob([bytes], { type: "image/png" })));
}

/** @param {ImageBitmap} bitmap @param {number} [most] pixels of the longer side */
function drawn(bitmap, most = LARGEST) {
  const scale = Math.min(1, most / Math.max(bitmap.width, bitmap.height));
  const [canvas, context] = newCanvas(
    Math.max(1, Math.round(bitmap.width * scale)),
    Math.max(1, Math.round(bitmap.height * scale)),
    { alpha: false, willReadFrequently: true },
  );
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas;
}

/** Buttons that give a layer or a group a mask. @param {{explorer: import("../explorer.js").Explorer, brush: Brushed, notify: Notify,
 * mask: PictureMask|string|null|undefined, put: (mask: PictureMask|null) => void}} options */
export function Mask({ explorer, brush, notify, mask: given, put: change }) {
  const mask = typeof given === "string" ? { picture: given } : (given ?? null);
  const painting = brush.on;
  const put = (brush.put = (/** @type {PictureMask|null} */ now) => {
    // each stroke is a step of undo
    explorer.endStep();
    change(now);
  });
  useEffect(
    () => () => {
      brush.on = false;
    },
    [],
  );
  useEffect(() => {
    if (brush.on) brush.mask = mask;
  }, [mask?.picture]); // by undo
  const begin = () => {
    if (mask?.view && !isHere(explorer, mask.view)) explorer.place(mask.view);
    Object.assign(brush, { mask, on: true });
  };
  const take = async (/** @type {File} */ file) => {
    try {
      put({ picture: drawn(await createImageBitmap(file)).toDataURL("image/png") });
    } catch {
      notify(say("the_browser_cant_read_this", { name: file.name }), "error");
    }
  };
  const lay = (/** @type {string} */ where) =>
    mask && put({ picture: mask.picture, ...(where === "place" && { view: viewOf(explorer) }) });
  return html`<div class="stack" role="group" aria-label=${say("mask")}>
    <div class="row-head">${say("mask")}</div><div class="line">
      ${
        painting
          ? html`<${Button} label=${say("done")} symbol="check" kind="quiet" onClick=${() => {
              brush.on = false;
            }} />`
          : html`<${Button} label=${mask ? say("paint_on") : say("paint_a_mask")} symbol="edit" kind="quiet" onClick=${begin} />`
      }
      <${FileButton} label=${say("from_a_picture")} kind="quiet" accept="image/*" take=${take} />
      ${
        mask &&
        html`<${Button} label=${say("remove_the_mask")} symbol="trash" bare kind="quiet" onClick=${() => {
          brush.on = false;
          put(null);
        }} />`
      }</div>
    ${
      mask &&
      html`<${Segments} label=${say("where_the_mask_lies")} choices=${[
        ["place", say("on_this_place")],
        ["frame", say("over_the_frame")],
      ]} value=${mask.view ? "place" : "frame"} put=${lay} />`
    }
    ${
      painting &&
      html`<${Segments} label=${say("the_brush")} choices=${[
        ["hide", say("hides")],
        ["show", say("shows")],
      ]} value=${brush.shows ? "show" : "hide"} put=${(way) => {
        brush.shows = way === "show";
      }} />
      <${Slider} label=${say("brush_size")} value=${brush.size} least=${LEAST} most=${MOST} log put=${(
        /** @type {number} */ size,
      ) => {
        brush.size = size;
      }} />
      <${Slider} label=${say("softness")} value=${brush.soft} least=${0} most=${1} put=${(
        /** @type {number} */ soft,
      ) => {
        brush.soft = soft;
      }} />
      <p class="hint">${say("paint_on_the_picture_what")}</p>`
    }</div>`;
}

/** The canvas over the picture that is painted on. @param {{explorer: import("../explorer.js").Explorer, brush: Brushed, notify: Notify}} options */
export function Brush({ explorer, brush, notify }) {
  const shown = useRef(/** @type {HTMLCanvasElement|null} */ (null)),
    ring = useRef(/** @type {HTMLElement|null} */ (null)),
    own = useRef(/** @type {HTMLCanvasElement|null} */ (null));
  const made = useRef(""); // the picture that this canvas holds
  const picture = brush.mask?.picture,
    on = brush.on;
  const show = () => {
    const from = own.current,
      to = shown.current;
    if (!from || !to) return;
    Object.assign(to, { width: from.width, height: from.height });
    const { data } = /** @type {CanvasRenderingContext2D} */ (from.getContext("2d")).getImageData(
      0,
      0,
      from.width,
      from.height,
    );
    for (let k = 0; k < data.length; k += 4) {
      data[k + 3] = STRONG * (255 - data[k]);
      [data[k], data[k + 1], data[k + 2]] = TINT;
    }
    /** @type {CanvasRenderingContext2D} */ (to.getContext("2d")).putImageData(
      new ImageData(data, from.width, from.height),
      0,
      0,
    );
    const box = explorer.stage.canvas.getBoundingClientRect(),
      height = (box.width * from.height) / from.width;
    const place = {
      left: box.left,
      top: box.top + (box.height - height) / 2,
      width: box.width,
      height,
    };
    Object.assign(
      to.style,
      Object.fromEntries(Object.entries(place).map(([key, length]) => [key, `${length}px`])),
    );
  };
  useLayoutEffect(() => {
    // before the canvas can be touched
    if (!on) return undefined;
    let late = false;
    const hold = (/** @type {HTMLCanvasElement} */ canvas) => {
      if (late) return;
      own.current = canvas;
      made.current = picture ?? "";
      show();
    };
    if (picture && picture === made.current) show();
    else if (picture) {
      own.current = null; // it is another mask
      canvasOfText(picture).then(hold, () => {});
    } else {
      const [width, height] = explorer.size,
        scale = SIDE / Math.max(width, height);
      const [canvas, context] = newCanvas(
        Math.max(1, Math.round(width * scale)),
        Math.max(1, Math.round(height * scale)),
        { alpha: false, willReadFrequently: true },
      );
      context.fillStyle = "#fff";
      context.fillRect(0, 0, canvas.width, canvas.height);
      hold(canvas);
    }
    return () => {
      late = true;
    };
  }, [on, picture]);
  useEffect(() => {
    if (!on) return undefined;
    // The mask stays at its place, and the canvas over the picture does not move along.
    const end = () => {
      if (!brush.mask?.view) return;
      brush.on = false;
      notify(say("painting_has_ended"));
    };
    let undone = false; // which may be a stroke, and no move
    const ended = new AbortController();
    const moved = (/** @type {CustomEvent} */ { detail }) => {
      if (detail) end();
      else undone = true;
    };
    const placed = () => {
      const view = undone && brush.mask?.view;
      undone = false;
      if (view && !isHere(explorer, view)) end();
    };
    explorer.addEventListener("moved", /** @type {EventListener} */ (moved), ended);
    explorer.addEventListener("placed", placed, ended);
    explorer.addEventListener("opening", end, ended);
    return () => ended.abort();
  }, [on]);
  if (!on) return null;
  /** Show how large the brush is. */
  const follow = (/** @type {MouseEvent} */ { clientX, clientY, currentTarget }) => {
    if (!ring.current) return;
    const side = brush.size * /** @type {Element} */ (currentTarget).getBoundingClientRect().width;
    Object.assign(ring.current.style, {
      ...{ left: `${clientX}px`, top: `${clientY}px`, width: `${side}px`, height: `${side}px` },
      visibility: "visible",
    });
  };
  const leave = () => {
    if (ring.current) ring.current.style.visibility = "hidden";
  };
  const resize = (/** @type {WheelEvent} */ event) => {
    event.preventDefault();
    const size = brush.size * (event.deltaY < 0 ? WHEEL : 1 / WHEEL);
    brush.size = Number(Math.min(MOST, Math.max(LEAST, size)).toFixed(3));
    follow(event);
  };
  const place = (/** @type {PointerEvent} */ { clientX, clientY, currentTarget }) => {
    const box = /** @type {Element} */ (currentTarget).getBoundingClientRect(),
      { width, height } = /** @type {HTMLCanvasElement} */ (own.current);
    return [
      ((clientX - box.left) / box.width) * width,
      ((clientY - box.top) / box.height) * height,
    ];
  };
  /** Stamp soft discs along a line. */
  const stroke = (/** @type {number[]} */ from, /** @type {number[]} */ to) => {
    const canvas = own.current,
      context = canvas?.getContext("2d");
    if (!canvas || !context) return;
    const radius = (brush.size * canvas.width) / 2,
      steps = Math.max(1, Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) / (radius / 4)));
    const tone = brush.shows ? "255, 255, 255" : "0, 0, 0";
    for (let k = 1; k <= steps; k++) {
      const [x, y] = from.map(
        (/** @type {number} */ part, /** @type {number} */ axis) =>
          part + ((to[axis] - part) * k) / steps,
      );
      const disc = context.createRadialGradient(x, y, radius * (1 - brush.soft), x, y, radius);
      disc.addColorStop(0, `rgba(${tone}, 1)`);
      disc.addColorStop(1, `rgba(${tone}, 0)`);
      context.fillStyle = disc;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fill();
    }
    show();
  };
  const down = (/** @type {PointerEvent} */ event) => {
    if (event.button > 0 || !own.current || !explorer.placed) return;
    event.preventDefault();
    let at = place(event);
    stroke(at, at);
    const move = (/** @type {PointerEvent} */ moved) => {
      if (!own.current) return; // undone under the brush
      const next = place(moved);
      stroke(at, next);
      at = next;
    };
    const end = () => {
      const canvas = own.current;
      if (!canvas || !brush.on) return;
      const where = brush.mask
        ? brush.mask.view && { view: brush.mask.view }
        : { view: viewOf(explorer) };
      made.current = canvas.toDataURL("image/png");
      brush.mask = { picture: made.current, ...where };
      brush.put(brush.mask);
    };
    whileHeld(event, move, end);
  };
  return html`<canvas class="mask-brush" aria-label=${say("the_mask_paint_on_the")} ref=${shown} onPointerDown=${down} onPointerMove=${follow} onPointerLeave=${leave} onWheel=${resize}></canvas>
    <div class="brush-ring" aria-hidden="true" ref=${ring}></div>`;
}
