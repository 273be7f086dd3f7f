/** Snapshots of places, and a picture that is laid over the view to compare with. */
import { html } from "../html.js";
import { kept, observe } from "../state.js";
import { Still } from "../ui.js";

const MOST = 12; // snapshots
const WIDTH = 320; // pixels of a kept picture
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** What is laid over the picture while a button or a key is held: `ui.over` is {picture, title}. */
export function snapshotsTool({ explorer, ui, notify }) {
  const own = observe({ stills: /** @type {Table} */ ({}) }); // pictures of snapshots in full size, by letter: in this page only
  const snapshots = () => kept.get("snapshots", []);

  function keep() {
    if (!explorer.placed) return;
    const used = snapshots().map(({ letter }) => letter), letter = [...LETTERS].find((each) => !used.includes(each)) ?? "Z";
    const { center, width, rotation } = explorer.placed;
    const scene = { ...explorer.scene, view: { ...explorer.scene.view, center, width, rotation } };
    const all = [...snapshots(), { letter, scene, still: explorer.still(WIDTH).toDataURL("image/jpeg", 0.8) }].slice(-MOST);
    own.stills = { ...Object.fromEntries(Object.entries(own.stills).filter(([key]) => all.some((each) => each.letter === key))), [letter]: explorer.still() };
    kept.set("snapshots", all);
    notify(`Snapshot ${letter} is kept.`, "info", { id: "snapshot" });
  }
  const remove = (letter) => kept.set("snapshots", snapshots().filter((each) => each.letter !== letter));
  /** Lay a snapshot over the picture; by default the newest one, or else what was there before the last step. */
  const show = (wanted = snapshots().at(-1)) => {
    const before = explorer.steps.back.findLast(({ still }) => still);
    if (wanted) ui.over = { picture: own.stills[wanted.letter] ?? wanted.still, title: `Snapshot ${wanted.letter}` };
    else if (before) ui.over = { picture: before.still, title: "Before the last step" };
    else notify("There is nothing to compare with yet. Press K to keep a snapshot.");
  };
  const hide = () => { ui.over = null; };
  const hold = (each) => ({
    onPointerDown: (event) => (event.currentTarget.setPointerCapture(event.pointerId), show(each)),
    onLostPointerCapture: hide,
    onKeyDown: (event) => { if ([" ", "Enter"].includes(event.key)) (event.preventDefault(), show(each)); },
    onKeyUp: hide,
    onBlur: hide,
  });

  return {
    hold,
    keep,
    remove,
    snapshots,
    commands: [
      { id: "snapshot", group: "Edit", title: "Keep a snapshot", keys: ["k"], run: keep },
      { id: "compare", group: "Edit", title: "Hold: compare with the newest snapshot, or with the step before", keys: ["o"], start: () => show(), stop: hide },
    ],
  };
}

/** The picture that is laid over the canvas. */
export const Over = ({ ui, canvas }) => ui.over && html`<figure class="over" style=${{ translate: canvas.style.translate }}>
  ${typeof ui.over.picture === "string" ? html`<${Still} src=${ui.over.picture} />` : html`<canvas width=${ui.over.picture.width} height=${ui.over.picture.height} ref=${(made) => made?.getContext("2d").drawImage(ui.over.picture, 0, 0)}></canvas>`}
  ${ui.over.title && html`<figcaption class="glass">${ui.over.title}</figcaption>`}</figure>`;
