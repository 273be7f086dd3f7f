/** The page: gestures, keys, the address, and what is saved. */
import { movedText, scientific } from "./decimals.js";
import { Viewer, inflated } from "./view.js";

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** Let a canvas be moved and zoomed. @param {Viewer} viewer */
function attach(viewer) {
  const { canvas } = viewer;
  /** @type {Map<number, [number, number]>} */
  const down = new Map();
  let tapped = { at: -1000, x: 0, y: 0 },
    moved = 0;
  /** @param {{ clientX: number, clientY: number }} event @returns {[number, number]} */
  const place = ({ clientX, clientY }) => {
    const box = canvas.getBoundingClientRect();
    return [
      ((clientX - box.left) * canvas.width) / box.width,
      ((clientY - box.top) * canvas.height) / box.height,
    ];
  };
  /** @returns {[number, number]} */
  const middle = () => [canvas.width / 2, canvas.height / 2];
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const unit =
        event.deltaMode === WheelEvent.DOM_DELTA_LINE
          ? 33
          : event.deltaMode === WheelEvent.DOM_DELTA_PAGE
            ? 400
            : 1;
      const length = Math.max(-240, Math.min(240, event.deltaY * unit));
      viewer.zoom(Math.exp(-length / (event.ctrlKey ? 100 : 250)), place(event));
    },
    { passive: false },
  );
  canvas.addEventListener("dblclick", (event) => {
    if (event.timeStamp - tapped.at > 600) viewer.zoom(event.shiftKey ? 1 / 3 : 3, place(event)); // else taps have zoomed
  });
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, place(event));
    moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const from = down.get(event.pointerId),
      to = place(event);
    if (!from) return;
    down.set(event.pointerId, to);
    moved += Math.hypot(to[0] - from[0], to[1] - from[1]);
    const [other] = [...down].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    if (!other) return viewer.pan(to[0] - from[0], to[1] - from[1]);
    const gap = (/** @type {number[]} */ point) =>
      Math.max(20, Math.hypot(point[0] - other[0], point[1] - other[1]));
    viewer.pan((to[0] - from[0]) / 2, (to[1] - from[1]) / 2);
    viewer.zoom(gap(to) / gap(from), [(to[0] + other[0]) / 2, (to[1] + other[1]) / 2], false);
  });
  canvas.addEventListener("pointerup", (event) => {
    const [x, y] = place(event),
      at = event.timeStamp;
    if (event.pointerType === "touch" && moved < 20) {
      // browsers tell of no double tap where they leave touches to the page
      if (at - tapped.at < 300 && Math.hypot(x - tapped.x, y - tapped.y) < 60)
        viewer.zoom(3, [x, y]);
      tapped = { at, x, y };
    }
  });
  for (const end of /** @type {const} */ (["pointerup", "pointercancel"]))
    canvas.addEventListener(end, (event) => down.delete(event.pointerId));
  const step = 80 * Math.min(2, devicePixelRatio);
  /** @type {Record<string, () => void>} */
  const keys = {
    "+": () => viewer.zoom(1.5, middle()),
    "=": () => viewer.zoom(1.5, middle()),
    "-": () => viewer.zoom(1 / 1.5, middle()),
    0: () => viewer.home(),
    Home: () => viewer.home(),
    ArrowLeft: () => viewer.pan(step, 0),
    ArrowRight: () => viewer.pan(-step, 0),
    ArrowUp: () => viewer.pan(0, step),
    ArrowDown: () => viewer.pan(0, -step),
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    if (event.target instanceof HTMLInputElement) return;
    if (
      event.target instanceof Element &&
      event.target.closest("details") &&
      event.key.startsWith("Arrow")
    )
      return;
    keys[event.key]();
    event.preventDefault();
  });
  element("in").onclick = () => viewer.zoom(2, middle());
  element("out").onclick = () => viewer.zoom(0.5, middle());
  element("home").onclick = () => viewer.home();
}

/** Let colors be changed: the density by octaves, the offset by turns of the palette. @param {Viewer} viewer */
function paints(viewer) {
  const { facts } = viewer;
  if (!facts || !viewer.pool) return document.getElementById("colors")?.remove();
  const panel = element("sliders"),
    inputs = [...panel.querySelectorAll("input")];
  panel.addEventListener("input", () => {
    const [octaves, turns] = inputs.map((input) => Number(input.value)),
      [density, offset] = facts.colors;
    viewer.colors = [density * 2 ** octaves, offset + turns];
    viewer.changed();
  });
}

/** Keep the place in the address, where it can be sent or marked. @param {Viewer} viewer */
function follow(viewer) {
  let timer = 0;
  const read = () => {
    const [x, y, width] = location.hash.slice(1).split(",").map(Number);
    if ([x, y].every(Number.isFinite) && width > 0) viewer.go([x, y], width);
  };
  read();
  addEventListener("hashchange", read);
  viewer.onmove = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const { center, width } = viewer.place;
      try {
        history.replaceState(null, "", `#${center.join()},${width}`);
      } catch {
        /* pages of some places may not */
      }
    }, 400);
  };
}

/** Let the scene of the place, and what is seen, be saved. @param {Viewer} viewer */
function saves(viewer) {
  const scene = /** @type {HTMLAnchorElement} */ (element("scene")),
    picture = /** @type {HTMLAnchorElement} */ (element("save"));
  const { facts } = viewer;
  picture.href = /** @type {HTMLImageElement} */ (element("still")).src;
  if (!facts) return;
  const toml = () => {
    const { center, width } = viewer.place,
      { deep, exponent } = facts;
    const [size, order] = scientific(width, exponent);
    const texts = deep
      ? center.map((part, axis) => movedText(deep[axis], part, exponent, 8 - order))
      : center.map(String);
    return [...texts, deep ? size : `${width}`, ...viewer.colors.map(String)].reduce(
      (text, value, k) => text.replace(facts.place[k], value),
      facts.toml,
    );
  };
  const details = /** @type {HTMLDetailsElement} */ (document.querySelector("details"));
  details.addEventListener("toggle", () => (element("toml").textContent = toml()));
  scene.addEventListener(
    "click",
    () =>
      (scene.href = `data:application/toml;base64,${btoa(String.fromCharCode(...new TextEncoder().encode(toml())))}`),
  );
  picture.download = "fractal.png";
  picture.addEventListener("click", (event) => {
    if (picture.href.startsWith("blob:") && !event.isTrusted) return; // the click below
    event.preventDefault();
    viewer.show();
    viewer.canvas.toBlob((blob) => {
      if (!blob) return;
      URL.revokeObjectURL(picture.href);
      picture.href = URL.createObjectURL(blob);
      picture.click();
    });
  });
}

/** Begin. */
async function main() {
  const still = /** @type {HTMLImageElement} */ (element("still"));
  const say = (/** @type {string} */ text) => (element("note").textContent = text);
  const text = element("live").textContent.trim();
  let content = null,
    error = "";
  try {
    if (text) content = await inflated(text);
  } catch {
    error = "This browser is too old to draw here, so the picture is only magnified.";
  }
  await still.decode().catch(() => {});
  const viewer = new Viewer(
    /** @type {HTMLCanvasElement} */ (element("view")),
    still,
    content,
    say,
  );
  attach(viewer);
  paints(viewer);
  if (content) follow(viewer);
  saves(viewer);
  if (error) say(error);
  document.body.classList.add("ready");
  Object.assign(globalThis, { viewer });
}

main();
