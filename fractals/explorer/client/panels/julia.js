/** Julia sets: a preview under the pointer while J is held, a click goes in, Escape comes back. */

import { button, element } from "../ui.js";

const SIZE = 256; // of the preview, in pixels

export function juliaTool({ explorer, canvas }) {
  const picture = element("canvas", { width: SIZE, height: SIZE });
  const text = element("span", {}, "Click to go in");
  const node = element("figure.julia.glass", { hidden: true, "aria-hidden": "true" }, picture, element("figcaption", {}, text));
  const back = element("div.back.glass", { hidden: true }, button("Back to the map", () => leave(), { symbol: "back", kind: "quiet" }));
  let held = false;
  let pointer = null; // device pixels
  let from = null; // the scene before the Julia set

  const show = () => {
    if (!held || !pointer || explorer.placed?.julia) return;
    const at = pointer.map((value) => Math.round(value * 16));
    explorer.julia({ at, size: SIZE }, (preview) => {
      if (!held) return;
      picture.getContext("2d").drawImage(explorer.pixelsOf(preview), 0, 0, SIZE, SIZE);
      node.hidden = false;
    });
    const ratio = canvas.width / canvas.clientWidth || 1;
    const [x, y] = pointer.map((value) => value / ratio);
    node.style.left = `${Math.min(x + 24, canvas.clientWidth - SIZE / 1.4 - 24)}px`;
    node.style.top = `${Math.max(16, Math.min(y - 90, canvas.clientHeight - SIZE))}px`;
  };
  const start = () => {
    if (held) return;
    held = true;
    pointer ??= [canvas.width / 2, canvas.height / 2];
    show();
  };
  const stop = () => {
    held = false;
    node.hidden = true;
  };
  explorer.addEventListener("pointer", ({ detail }) => {
    pointer = detail ? [detail.x, detail.y] : null;
    show();
  });
  /** Go into the Julia set of the pointer's point, or of the middle. */
  const enter = (middle = false) => {
    if (!explorer.placed || explorer.placed.julia) return false;
    const at = (pointer && middle !== true ? pointer : [canvas.width / 2, canvas.height / 2]).map((value) => Math.round(value * 16));
    const { center, width, rotation } = explorer.placed;
    from = { ...explorer.scene, view: { ...explorer.scene.view, center, width, rotation } };
    stop();
    explorer.open({ julia: { frame: explorer.placed.frame, at } });
  };
  const leave = () => {
    if (!from || !explorer.placed?.julia) return false;
    explorer.open({ scene: { ...from, color: explorer.scene.color } });
    from = null;
    return true;
  };
  // In the capture phase: a click while J is held goes in, and moves nothing.
  canvas.addEventListener("pointerdown", (event) => {
    if (!held) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    enter();
  }, { capture: true });
  explorer.addEventListener("placed", () => {
    if (!explorer.placed.julia) from = null;
    back.hidden = !from || !explorer.placed.julia;
  });
  addEventListener("blur", stop);
  return {
    node: [node, back],
    leave,
    enter,
    commands: [
      { id: "julia", group: "Find", title: "Hold: Julia set of the point under the pointer; click goes in", keys: ["j"], start, stop },
      { id: "julia-enter", group: "Find", title: "Go into the Julia set of the point under the pointer, or the middle", keys: ["Shift+J"], run: () => enter() },
    ],
  };
}
