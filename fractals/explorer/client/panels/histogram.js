/** The distribution of the view's values, each bar in its own color; dragging shifts the palette. */

import { element } from "../ui.js";

const BINS = 128;

/** @param {(offset: number, done: boolean) => void} shift */
export function histogramView(shift) {
  const bars = element("div.bars");
  const node = element("div.histogram", { role: "img", "aria-label": "Histogram of the view, in the colors of the palette" }, bars);
  let data = null;
  let paint = { density: 1, offset: 0 };

  const fill = (background) => {
    if (!data) return;
    const turns = paint.density * (data.high - data.low);
    const width = node.clientWidth || 300;
    const period = width / Math.max(1e-6, Math.abs(turns));
    const start = paint.density * data.low + paint.offset;
    bars.style.background = background;
    bars.style.backgroundSize = `${period}px 100%`;
    bars.style.backgroundPositionX = `${-(start - Math.floor(start)) * period}px`;
  };
  let background = "";
  /** Show colors: a CSS gradient, density and offset. */
  const colors = (given, now) => {
    background = given;
    paint = { density: now.density ?? 1, offset: now.offset ?? 0 };
    fill(background);
  };
  /** Show the counts of a message `histogram`, on a square-root scale: rare values remain visible. */
  const counts = (message) => {
    data = message;
    const most = Math.max(1, ...message.counts);
    const step = 100 / message.counts.length;
    const points = message.counts.flatMap((count, k) => {
      const y = 100 - 100 * Math.sqrt(count / most);
      return [`${k * step}% ${y}%`, `${(k + 1) * step}% ${y}%`];
    });
    bars.style.clipPath = `polygon(0% 100%, ${points.join(", ")}, 100% 100%)`;
    fill(background);
  };
  let from = null;
  node.addEventListener("pointerdown", (event) => {
    if (!data) return;
    from = { x: event.clientX, offset: paint.offset };
    node.setPointerCapture(event.pointerId);
  });
  const moved = (event) => from.offset - ((event.clientX - from.x) / node.clientWidth) * paint.density * (data.high - data.low);
  node.addEventListener("pointermove", (event) => from && shift(moved(event), false));
  node.addEventListener("lostpointercapture", (event) => {
    if (from) shift(moved(event), true);
    from = null;
  });
  return { node, colors, counts, bins: BINS };
}
