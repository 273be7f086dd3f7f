/** The frame of the user interface: toolbar, panels, status line, messages, dropped files. */

import { addCommands } from "../keys.js";
import { button, element, kept, narrow } from "../ui.js";
import { bookmarksPanel, galleryPanel, surprisePanel } from "./scenes.js";
import { colorPanel } from "./color.js";
import { exportPanel, sharePanel } from "./share.js";
import { findCommands, findPanel } from "./find.js";
import { formulaPanel } from "./formula.js";
import { helpPanel } from "./help.js";
import { inspectPanel } from "./inspect.js";
import { juliaTool } from "./julia.js";
import { statusLine } from "./status.js";

/** The panels in the order of the toolbar. `main`: on a phone's bar, the rest under "More". */
const PANELS = [
  { id: "gallery", title: "Gallery", key: "g", build: galleryPanel, main: true, wide: true },
  { id: "color", title: "Color", key: "c", build: colorPanel, main: true },
  { id: "formula", title: "Formula", key: "f", build: formulaPanel },
  { id: "find", title: "Find", key: "m", build: findPanel, main: true },
  { id: "surprise", title: "Surprise", key: "r", build: surprisePanel, main: true, wide: true },
  { id: "inspect", title: "Inspect", key: "i", build: inspectPanel },
  { id: "bookmark", title: "Bookmarks", key: "b", build: bookmarksPanel },
  { id: "share", title: "Share", key: "s", build: sharePanel },
  { id: "export", title: "Export", key: "e", build: exportPanel },
  { id: "help", title: "Help", key: "?", build: helpPanel, wide: true },
];
const MESSAGE_MS = 6000;

/**
 * Build the user interface over the picture.
 * @param {import("../explorer.js").Explorer} explorer
 */
export function mountPanels(explorer) {
  const canvas = document.getElementById("view");
  const root = document.getElementById("ui");
  const context = { explorer, canvas, open, close, notify, upload, get opened() { return current?.id ?? ""; } };
  const built = new Map();
  let current = null;

  const bar = element("nav.bar.glass", { "aria-label": "Panels" });
  const slot = element("div.slot");
  const messages = element("div.messages", { role: "alert" });
  const tools = new Map();
  for (const panel of PANELS) {
    const tool = button(panel.title, () => (current?.id === panel.id ? close() : open(panel.id)), {
      kind: panel.main ? "tool" : "tool extra",
      symbol: panel.id,
      "aria-label": panel.title,
      "aria-expanded": "false",
      "aria-keyshortcuts": panel.key,
      dataset: { key: panel.key.toUpperCase(), panel: panel.id },
    });
    tools.set(panel.id, tool);
    bar.append(tool);
  }
  const more = button("More", () => unfold(!bar.classList.contains("unfolded")), { kind: "tool more", symbol: "more", "aria-expanded": "false" });
  bar.append(more);

  const corner = element(
    "div.corner.glass",
    { role: "group", "aria-label": "History" },
    ...[["undo", "Undo", "Ctrl+Z"], ["redo", "Redo", "Ctrl+Y"], ["home", "Whole set", "0"]].map(([name, title, key]) =>
      button(title, () => explorer[name](), { symbol: name, bare: true, kind: `tool ${name}`, title: `${title} (${key})` }),
    ),
  );
  const history = () => {
    corner.querySelector(".undo").disabled = !explorer.canUndo;
    corner.querySelector(".redo").disabled = !explorer.canRedo;
  };
  for (const name of ["placed", "painted", "history"]) explorer.addEventListener(name, history);
  history();

  const veil = element("div.veil", { hidden: true }, element("p.glass", {}, "Drop a scene, a picture or a palette"));
  root.append(bar, slot, corner, statusLine(context), messages, veil);

  function unfold(wide) {
    bar.classList.toggle("unfolded", wide);
    more.setAttribute("aria-expanded", String(wide));
  }

  function open(id, { focus = true } = {}) {
    const panel = PANELS.find((one) => one.id === id);
    if (!explorer.catalog) return void explorer.addEventListener("catalog", () => open(id, { focus }), { once: true });
    if (current?.id === id) return built.get(id);
    close(false);
    unfold(false);
    if (!built.has(id)) built.set(id, frame(panel));
    const made = built.get(id);
    current = panel;
    slot.append(made.node);
    tools.get(id).setAttribute("aria-expanded", "true");
    root.dataset.open = panel.wide ? "wide" : "side";
    more.classList.toggle("on", !panel.main);
    made.shown?.();
    if (focus) made.node.querySelector("h2").focus({ preventScroll: true });
    return made;
  }

  function close(focus = true) {
    if (!current) return false;
    const made = built.get(current.id);
    tools.get(current.id).setAttribute("aria-expanded", "false");
    current = null;
    delete root.dataset.open;
    more.classList.remove("on");
    made.hidden?.();
    made.node.remove();
    if (focus) canvas.focus({ preventScroll: true });
    return true;
  }

  /** Escape ends one thing: a search or flight, then a Julia set, then the panel. */
  function escape() {
    return [...built.values()].some((made) => made.cancel?.()) || julia.leave() || close();
  }

  function frame(panel) {
    const made = panel.build(context);
    const body = element("div.body", {}, made.node);
    const head = element("header", {}, element("span.grip"), element("h2", { tabIndex: -1 }, panel.title), made.actions,
      button("Close", () => close(), { symbol: "close", bare: true, kind: "quiet" }));
    const node = element(`section.panel.glass${panel.wide ? ".wide" : ""}.panel-${panel.id}`, { "aria-label": panel.title }, head, body);
    swipe(head, node, close);
    return { ...made, node };
  }

  function notify(text, kind = "info", action = null, lasting = Boolean(action)) {
    const line = element(`div.message.glass.${kind}`, {}, element("span.grow", {}, text),
      action && button(action[0], () => (action[1](), line.remove()), { kind: "quiet" }),
      button("Dismiss", () => line.remove(), { symbol: "close", bare: true, kind: "quiet" }));
    messages.append(line);
    while (messages.children.length > 3) messages.firstChild.remove();
    if (!lasting) setTimeout(() => line.remove(), kind === "error" ? 2 * MESSAGE_MS : MESSAGE_MS);
    return line;
  }
  explorer.addEventListener("message", ({ detail }) => notify(detail.text, detail.kind));
  let lost = null;
  explorer.addEventListener("disconnected", ({ detail }) => {
    const text = detail?.text || "The server does not answer. Trying again.";
    if (lost?.isConnected && lost.firstChild.textContent === text) return;
    lost?.remove();
    lost = notify(text, "error", null, true);
  });
  explorer.addEventListener("connected", () => (lost?.remove(), (lost = null)));

  async function upload(file) {
    try {
      const answer = await fetch(`/upload?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
      const told = await answer.json();
      if (!answer.ok) throw new Error(told.error ?? `The server answered ${answer.status}`);
      if (told.scene) explorer.open({ scene: told.scene });
      else explorer.paint({ ...explorer.scene.color, palette: told.palette });
      if (told.lost?.length) notify(`Settings without an equivalent: ${told.lost.join("; ")}`);
    } catch (error) {
      const unsent = error instanceof TypeError; // of `fetch`, which says no more
      notify(unsent ? `${file.name} was not sent: it is a folder, or the server does not answer` : error.message, "error");
    }
  }
  drop(veil, (file) => upload(file));

  const julia = juliaTool(context);
  root.append(...julia.node);
  context.julia = julia;
  addCommands(
    ...PANELS.map(({ id, title, key }) => ({ id, group: "Panels", title, keys: [key], run: () => void (current?.id === id ? close() : open(id)) })),
    { id: "hide", group: "Panels", title: "Hide or show everything but the picture", keys: ["h"], run: () => void root.classList.toggle("bare") },
    { id: "close", group: "Panels", title: "Cancel, leave a Julia set, or close the panel", keys: ["Escape"], run: escape },
    ...julia.commands,
    ...favourites(context),
  );
  findCommands(context);
  startPage(explorer, open, () => current?.id === "gallery" && close());
  return context;
}

/** Show the gallery first if neither the server nor the address names a scene; moving the picture closes it. */
function startPage(explorer, open, close) {
  if (location.hash) return;
  explorer.addEventListener("welcome", ({ detail }) => {
    if (!detail.gallery) return;
    open("gallery");
    explorer.addEventListener("gesture", close, { once: true });
  }, { once: true });
}

/** The commands that choose favourite palettes; F5, F11 and F12 stay the browser's. */
function favourites({ explorer, notify }) {
  return [1, 2, 3, 4, 6, 7, 8, 9, 10].map((number, index) => ({
    id: `favourite-${number}`,
    group: "Color",
    title: "Favorite palettes: F1 to F4, F6 to F10",
    hidden: index > 0,
    keys: [`F${number}`],
    run: () => {
      const palette = kept.get("favourites", [])[index];
      if (palette) explorer.paint({ ...explorer.scene.color, palette });
      else notify("Mark a palette with its star in the color panel first.");
    },
  }));
}

/** A panel on a phone is dragged down to close it. */
function swipe(head, node, close) {
  let start = null;
  head.addEventListener("pointerdown", (event) => {
    if (event.target.closest("button") || !narrow()) return;
    start = event.clientY;
    head.setPointerCapture(event.pointerId);
  });
  head.addEventListener("pointermove", (event) => {
    if (start !== null) node.style.transform = `translateY(${Math.max(0, event.clientY - start)}px)`;
  });
  const end = (event) => {
    if (start === null) return;
    const far = event.clientY - start > 80;
    start = null;
    node.style.transform = "";
    if (far) close();
  };
  head.addEventListener("pointerup", end);
  head.addEventListener("pointercancel", end);
}

function drop(veil, take) {
  let depth = 0;
  const files = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  const show = (step) => {
    depth = Math.max(0, depth + step);
    veil.hidden = depth === 0;
  };
  addEventListener("dragenter", (event) => files(event) && show(1));
  addEventListener("dragleave", (event) => files(event) && show(-1));
  addEventListener("dragover", (event) => files(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    show(-depth);
    const [file] = event.dataTransfer.files;
    if (file) take(file);
  });
}
