/** Snapshots of places, and a picture that is laid over the view to compare with. */
import { html } from "../html.js";
import { kept, observe } from "../state.js";
import { captured, Drawn, Still } from "../ui.js";
import { say } from "../words.js";

const MOST = 12; // snapshots
const WIDTH = 320; // pixels of a kept picture
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** What is laid over the picture: `ui.over` is {picture, title}, while a button or a key is held, or {picture, title, split}: beside the view, up to this share of the canvas. */
export function snapshotsTool(
  /** @type {Pick<Context, "explorer"|"ui"|"notify">} */ { explorer, ui, notify },
) {
  const own = observe({ stills: /** @type {Record<string, HTMLCanvasElement>} */ ({}) }); // pictures of snapshots in full size, by letter: in this page only
  const snapshots = () => kept.get("snapshots", /** @type {Snapshot[]} */ ([]));

  function keep() {
    if (!explorer.placed) return;
    const used = snapshots().map(({ letter }) => letter),
      letter = [...LETTERS].find((each) => !used.includes(each)) ?? "Z";
    const { center, width, rotation } = explorer.placed;
    const scene = { ...explorer.scene, view: { ...explorer.scene.view, center, width, rotation } };
    const all = [
      ...snapshots(),
      { letter, scene, still: explorer.still(WIDTH).toDataURL("image/jpeg", 0.8) },
    ].slice(-MOST);
    own.stills = {
      ...Object.fromEntries(
        Object.entries(own.stills).filter(([key]) => all.some((each) => each.letter === key)),
      ),
      [letter]: explorer.still(),
    };
    kept.keep("snapshots", all);
    notify(say("snapshot_is_kept", { letter }), "info", { id: "snapshot" });
  }
  const remove = (/** @type {string} */ letter) =>
    kept.keep(
      "snapshots",
      snapshots().filter((each) => each.letter !== letter),
    );
  /** Lay a snapshot over the picture; by default the newest one, or else what was there before the last step. */
  const show = (/** @type {Snapshot|undefined} */ wanted = snapshots().at(-1)) => {
    const before = explorer.steps.back.findLast(({ still }) => still);
    if (wanted)
      ui.over = {
        picture: own.stills[wanted.letter] ?? wanted.still,
        title: say("snapshot", { letter: wanted.letter }),
      };
    else if (before?.still) ui.over = { picture: before.still, title: say("before_the_last_step") };
    else notify(say("there_is_nothing_to_compare"));
  };
  const hide = () => {
    ui.over = null;
  };
  /** Lay a snapshot over the left part of the picture, which moves on beside it; or end that. */
  const beside = (/** @type {Snapshot|undefined} */ wanted = undefined) => {
    if (end()) return;
    show(wanted);
    if (ui.over) ui.over = { ...ui.over, split: explorer.seen.middle[0] / (16 * explorer.size[0]) };
  };
  const end = () => {
    const split = ui.over?.split !== undefined;
    if (split) hide();
    return split;
  };
  const hold = (/** @type {Snapshot} */ each) => ({
    onPointerDown: (/** @type {PointerEvent} */ event) => (captured(event), show(each)),
    onLostPointerCapture: hide,
    onKeyDown: (/** @type {KeyboardEvent} */ event) => {
      if ([" ", "Enter"].includes(event.key)) (event.preventDefault(), show(each));
    },
    onKeyUp: hide,
    onBlur: hide,
  });

  return {
    beside,
    end,
    hold,
    keep,
    remove,
    snapshots,
    commands: [
      { id: "snapshot", group: say("edit"), title: say("keep_a_snapshot"), keys: ["k"], run: keep },
      {
        id: "compare",
        group: say("edit"),
        title: say("hold_compare_with_the_newest"),
        keys: ["o"],
        start: () => show(),
        stop: hide,
      },
      {
        id: "beside",
        group: say("edit"),
        title: say("the_newest_snapshot_or_the"),
        keys: ["Shift+O"],
        run: () => beside(),
      },
    ],
  };
}

/** The picture that is laid over the canvas, and the line at which it ends where it lies beside the view. */
export function Over(/** @type {{ui: Ui, canvas: HTMLCanvasElement}} */ { ui, canvas }) {
  if (!ui.over) return null;
  const laid = ui.over,
    { picture, title, split = 0 } = laid,
    whole = laid.split === undefined;
  const put = (/** @type {number} */ share) => {
    ui.over = { ...laid, split: Math.min(0.98, Math.max(0.02, share)) };
  };
  const step = (/** @type {KeyboardEvent} */ event) => {
    const by = /** @type {Record<string, number>} */ ({ ArrowLeft: -0.02, ArrowRight: 0.02 })[
      event.key
    ];
    if (by) (event.preventDefault(), put(split + by));
  };
  const drag = (/** @type {PointerEvent} */ { currentTarget, pointerId, clientX }) =>
    /** @type {Element} */ (currentTarget).hasPointerCapture(pointerId) &&
    put(clientX / canvas.clientWidth);
  return html`<figure class="over" style=${{ translate: canvas.style.translate, clipPath: whole ? undefined : `inset(0 ${100 * (1 - split)}% 0 0)` }}>
    ${typeof picture === "string" ? html`<${Still} src=${picture} />` : html`<${Drawn} key=${title} picture=${picture} />`}
    ${title && html`<figcaption class="glass" style=${whole ? undefined : { left: "auto", right: `calc(${100 * (1 - split)}% + 12px)`, transform: "none" }}>${title}</figcaption>`}</figure>
    ${
      !whole &&
      html`<div class="split" role="slider" tabindex="0" aria-label=${say("where_ends", { title })} aria-valuemin="0" aria-valuemax="100" aria-valuenow=${Math.round(100 * split)} style=${{ left: `${100 * split}%` }}
      onKeyDown=${step} onPointerMove=${drag} onPointerDown=${captured}></div>`
    }`;
}
