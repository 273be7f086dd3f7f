/**
 * Julia sets: a preview under the pointer while J is held, a click goes in, Escape comes back. Where
 * there are no keys, a button starts previews of the points that a finger touches.
 */

import { button, element } from "../ui.js";

const SIZE = 256; // of the preview, in pixels

export function juliaTool({ explorer, canvas }) {
  const picture = element("canvas", { width: SIZE, height: SIZE });
  const text = element("span", {}, "Click to go in");
  const done = button("Done", (event) => (event.stopPropagation(), stop()), { kind: "quiet" });
  const node = element("figure.julia.glass", { hidden: true, onclick: () => enter() }, picture, element("figcaption", {}, text, done));
  const back = element("div.back.glass", { hidden: true }, button("Back to the map", () => leave(), { symbol: "back", kind: "quiet" }));
  let held = false;
  let pointer = null; // device pixels
  let finger = null; // the id of the touch that is down
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
    let top = Math.max(16, Math.min(y - 90, canvas.clientHeight - SIZE));
    // A preview under a finger would be hidden, and the end of the touch would go in.
    if (node.classList.contains("touched")) top = y > canvas.clientHeight / 2 ? 80 : canvas.clientHeight - SIZE - 90;
    node.style.left = `${Math.min(x + 24, canvas.clientWidth - SIZE / 1.4 - 24)}px`;
    node.style.top = `${top}px`;
  };
  const start = () => {
    if (held) return;
    held = true;
    text.textContent = "Click to go in";
    pointer ??= [canvas.width / 2, canvas.height / 2];
    show();
  };
  const stop = () => {
    held = false;
    node.hidden = true;
    node.classList.remove("touched");
  };
  /** Preview the points that are touched, until one is entered or Escape is pressed. */
  const preview = () => {
    node.classList.add("touched");
    start();
    text.textContent = "Tap here to go in";
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
    if (node.classList.contains("touched")) return stop(), true;
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
    if (!node.classList.contains("touched")) return enter();
    finger = event.pointerId;
    touch(event);
  }, { capture: true });
  const touch = (event) => {
    if (!held || event.pointerId !== finger) return;
    event.stopImmediatePropagation();
    const { left, top, width, height } = canvas.getBoundingClientRect();
    pointer = [((event.clientX - left) * canvas.width) / width, ((event.clientY - top) * canvas.height) / height];
    show();
  };
  canvas.addEventListener("pointermove", touch, { capture: true });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => (finger = null), { capture: true });
  explorer.addEventListener("placed", () => {
    if (!explorer.placed.julia) from = null;
    back.hidden = !from || !explorer.placed.julia;
  });
  addEventListener("blur", stop);
  return {
    node: [node, back],
    leave,
    enter,
    preview,
    commands: [
      { id: "julia", group: "Find", title: "Hold: Julia set of the point under the pointer; click goes in", keys: ["j"], start, stop },
      { id: "julia-enter", group: "Find", title: "Go into the Julia set of the point under the pointer, or the middle", keys: ["Shift+J"], run: () => enter() },
    ],
  };
}
