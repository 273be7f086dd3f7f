/** Makes the model, the canvas and the panels. */
import { Explorer } from "./explorer.js";
import { attachGestures } from "./gestures.js";
import { attachKeys } from "./keys.js";
import { mountPanels } from "./panels/index.js";
import { watchSize } from "./stage.js";
import { language, say } from "./words.js";

const REST = 600; // ms without a move until the address gets the link
const PAST = "fractals.past"; // what undo returned to before the page was loaded again
const NEAR = 10; // ms until an answer begins: a slow line compresses

document.documentElement.lang = language;
const canvas = /** @type {HTMLCanvasElement} */ (document.getElementById("view"));
canvas.setAttribute("aria-label", say("fractal_picture"));
const opening = document.querySelector(".first"); // a still, until there is a picture
const tell = (/** @type {string} */ text) => {
  if (opening) opening.textContent = text;
};
tell(say("opening_the_explorer"));
const options = new URLSearchParams(location.search); // ?plain: no WebGL2; ?webgl: even in software; ?line=remote or local

/** Tell whether the server is on this machine, by its name and by how soon it answers. */
function isRemote() {
  if (options.has("line")) return options.get("line") === "remote";
  if (!["localhost", "127.0.0.1", "[::1]"].includes(location.hostname)) return true;
  const times = /** @type {PerformanceResourceTiming[]} */ (
    performance.getEntriesByType("resource")
  ).map((each) => each.responseStart - each.requestStart);
  return times.length > 0 && Math.min(...times) > NEAR; // an ssh tunnel has a local name too
}

/** Keep the scene's link in the address, with an entry for each jump; Back and Forward return to them. */
function keepLink(/** @type {import("./explorer.js").Explorer} */ explorer) {
  let timer = 0;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const { placed } = explorer;
      if (!explorer.connected || document.hidden) return;
      const answer = await explorer.request({ t: "link" }).catch(() => null);
      if (answer && placed === explorer.placed)
        history.replaceState(history.state, "", `#${answer.link}`);
    }, REST);
  };
  explorer.addEventListener("placed", soon);
  explorer.addEventListener("painted", soon);
  document.addEventListener("visibilitychange", () => explorer.placed && soon()); // a hidden page asks for nothing
  explorer.addEventListener("jump", () => {
    if (history.state) history.pushState({ entry: explorer.entry }, "");
    else history.replaceState({ entry: explorer.entry }, ""); // of a link that the user has put there
  });
  explorer.addEventListener("turned", ({ detail }) => history.go(detail.by));
  addEventListener("popstate", ({ state }) => {
    const link = location.hash.slice(1);
    if (!state) explorer.open({ link });
    else if (state.entry !== explorer.entry) explorer.turnTo(state.entry, link);
  });
  addEventListener("pagehide", () => {
    const bare = (/** @type {string} */ key, /** @type {unknown} */ value) =>
      key === "still" ? undefined : value;
    for (const replace of [undefined, bare]) {
      // without pictures, where there is no room for them
      try {
        return sessionStorage.setItem(PAST, JSON.stringify(explorer.past, replace));
      } catch {
        sessionStorage.removeItem(PAST); // too much, or no storage
      }
    }
  });
}

function past() {
  try {
    return JSON.parse(sessionStorage.getItem(PAST) ?? "{}");
  } catch {
    return {};
  }
}

let explorer = /** @type {Explorer|null} */ (null);
watchSize(canvas, (size) => {
  if (explorer) {
    explorer.resize(size);
    return;
  }
  [canvas.width, canvas.height] = size;
  if (!history.state) history.replaceState({ entry: 0 }, "");
  const { entry } = history.state;
  const made = (explorer = new Explorer(canvas, {
    plain: options.has("plain"),
    software: options.has("webgl"),
    remote: isRemote(),
    first: location.hash ? { link: location.hash.slice(1) } : {},
    entry,
    past: past(),
  }));
  Object.assign(window, { explorer });
  document.documentElement.classList.toggle("plain", !made.stage.renderer.values);
  attachGestures(made, canvas);
  attachKeys(made, canvas);
  const pad = async () => (await import("./pad.js")).attachPad(made);
  addEventListener("gamepadconnected", () => void pad().catch(() => {}), { once: true });
  mountPanels(made);
  keepLink(made);
  const seen = () => {
    if (made.stage.picture?.empty !== false) return;
    opening?.remove(); // a guest of a class sees a picture of which nothing is drawn here
    made.removeEventListener("frame", seen);
  };
  made.addEventListener("frame", seen);
  made.addEventListener("disconnected", () => tell("")); // a message says why
  made.addEventListener("welcome", () => tell(say("opening_the_explorer")));
  made.connection.connect();
  made.load();
});
