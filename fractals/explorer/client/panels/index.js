/** The frame of the user interface: toolbar, panels, status line, messages, dropped files. */
import { inWords } from "../heard.js";
import { effect, html, render, untracked, useEffect, useLayoutEffect } from "../html.js";
import { addCommands, TEXT } from "../keys.js";
import { kept, observe, SECOND, unkept } from "../state.js";
import { Button, captured, Icon, narrow } from "../ui.js";
import { say } from "../words.js";
import { autopilotTool } from "./autopilot.js";
import { Edge } from "./edge.js";
import { watchCard } from "./blind.js";
import { bookmarksPanel, galleryPanel } from "./scenes.js";
import { juliaTool } from "./julia.js";
import { tryLater } from "./later.js";
import { pointMenu } from "./menu.js";
import { FAVORITE_KEYS, favoritesIn } from "./palettes.js";
import { keepFocus } from "./refocus.js";
import { Over, snapshotsTool } from "./snapshots.js";
import { spaceTool } from "./space.js";
import { StatusLine } from "./status.js";

/** The panels in the order of the toolbar. `main`: on a phone's bar, the rest under "More"; `aside`: not in the toolbar;
 * `load`: what builds it, which comes when the panel is opened, so that a first visit loads little. */
/** @typedef {{id: string, title: string, key: string, load: () => Promise<(context: Context) => Panel>, main?: boolean, wide?: boolean,
 *   aside?: boolean}} Offered */
/** @type {Offered} */
const GALLERY = {
  id: "gallery",
  title: say("gallery"),
  key: "g",
  load: async () => galleryPanel,
  main: true,
  wide: true,
};
/** @type {Offered[]} */
const PANELS = [
  GALLERY,
  {
    id: "color",
    title: say("color"),
    key: "c",
    load: () => import("./color.js").then((file) => file.colorPanel),
    main: true,
  },
  {
    id: "formula",
    title: say("formula"),
    key: "f",
    load: () => import("./formula.js").then((file) => file.formulaPanel),
  },
  {
    id: "find",
    title: say("find"),
    key: "m",
    load: () => import("./find.js").then((file) => file.findPanel),
    main: true,
  },
  {
    id: "surprise",
    title: say("surprise"),
    key: "r",
    load: () => import("./surprise.js").then((file) => file.surprisePanel),
    main: true,
    wide: true,
  },
  {
    id: "inspect",
    title: say("inspect"),
    key: "i",
    load: () => import("./inspect.js").then((file) => file.inspectPanel),
  },
  { id: "bookmark", title: say("bookmarks"), key: "b", load: async () => bookmarksPanel },
  {
    id: "share",
    title: say("share"),
    key: "s",
    load: () => import("./share.js").then((file) => file.sharePanel),
  },
  {
    id: "export",
    title: say("export"),
    key: "e",
    load: () => import("./share.js").then((file) => file.exportPanel),
  },
  {
    id: "film",
    title: say("film"),
    key: "v",
    load: () => import("./film.js").then((file) => file.filmPanel),
  },
  {
    id: "help",
    title: say("help"),
    key: "?",
    load: () => import("./help.js").then((file) => file.helpPanel),
    wide: true,
  },
  {
    id: "past",
    title: say("past"),
    key: "y",
    load: () => import("./past.js").then((file) => file.pastPanel),
    aside: true,
  },
  {
    id: "poster",
    title: say("poster_desk"),
    key: "Shift+P",
    load: () => import("./poster.js").then((file) => file.posterPanel),
    aside: true,
    wide: true,
  },
  {
    id: "versions",
    title: say("versions"),
    key: "Shift+Y",
    load: () => import("./versions.js").then((file) => file.versionsPanel),
    aside: true,
    wide: true,
  },
  {
    id: "lessons",
    title: say("lessons"),
    key: "l",
    load: () => import("./lessons.js").then((file) => file.lessonsPanel),
    aside: true,
  },
  {
    id: "file",
    title: say("in_the_file"),
    key: "",
    load: () => import("./files.js").then((file) => file.filePanel),
    aside: true,
  },
];
/** @param {string} id */
const panelOf = (id) => PANELS.find((panel) => panel.id === id) ?? GALLERY;
const CORNER = [
  ["undo", say("undo"), "Ctrl+Z"],
  ["redo", say("redo"), "Ctrl+Y"],
  ["past", say("past"), "Y"],
  ["home", say("whole_set"), "0"],
];
const LATER_MS = 3000; // after the first picture, until panels are loaded
const REST_MS = 3000; // of the pointer on a full screen, until the bars hide
const DOUBLE_MS = 280; // between the taps of a double tap
const LEAST_FREE = 0.35; // of the canvas's width: what is left of less is no place to aim at
const MESSAGE_MS = 6000,
  MOST_MESSAGES = 3; // and those that stay
const PAUSED = "paused",
  LOST = "lost"; // ids of messages that stay as long as what they tell
const HIDDEN = "hidden"; // of the message that tells how bars come back

/** Return messages with another one. Those that stay are kept, and the newest of the others; what stays is not told again.
 * @typedef {Context["ui"]["messages"][number]} Message @param {Message[]} all @param {Message} message @returns {Message[]} */
export function withMessage(all, message) {
  const { id, text, stays } = message,
    others = all.filter((each) => each.id !== id && (each.text !== text || (each.stays && !stays)));
  if (others.some((each) => each.text === text || each.also === text)) return others;
  const passing = [...others, message].filter((each) => !each.stays).slice(-MOST_MESSAGES);
  return [...others, message].filter((each) => each.stays || passing.includes(each));
}

/**
 * Build the user interface over the picture.
 * @param {import("../explorer.js").Explorer} explorer
 */
export function mountPanels(explorer) {
  const canvas = /** @type {HTMLCanvasElement} */ (document.getElementById("view")),
    root = /** @type {HTMLElement} */ (document.getElementById("ui"));
  const ui = observe(
    /** @type {Ui} */ ({
      open: "",
      unfolded: false,
      bare: false,
      messages: [],
      dragged: false,
      over: null,
      second: null,
      explain: null,
    }),
  );
  const julia = juliaTool({ explorer, canvas, ui });
  const past = snapshotsTool({ explorer, ui, notify }),
    autopilot = autopilotTool({ explorer, notify, ui });
  const space = spaceTool({ explorer, notify });
  const tried = tryLater({ explorer, ui });
  const context = {
    explorer,
    canvas,
    ui,
    julia,
    past,
    autopilot,
    space,
    tried,
    open,
    close,
    notify,
    upload,
    second,
  };
  const menu = pointMenu(context);
  const linked = Boolean(location.hash); // a page that is loaded again has a link, too
  const built = /** @type {Map<string, Panel>} */ (new Map()); // what a panel keeps while it is closed
  let focusing = true; // whether an opened panel takes the focus
  let wanted = /** @type {object|null} */ (null); // the newest call of `open`

  /** Return what a panel offers, which is built when it is first wanted; undefined if it can't be loaded. */
  async function offered(/** @type {string} */ id) {
    if (!explorer.catalog)
      await new Promise((resolve) => {
        explorer.addEventListener("catalog", () => resolve(undefined), { once: true });
      });
    if (!built.has(id)) {
      const build = await panelOf(id)
        .load()
        .catch(() => null);
      if (!build) return void unloaded();
      if (!built.has(id)) built.set(id, build(context));
    }
    return built.get(id);
  }

  /** Tell that a module was not loaded. Chromium asks for a module once: to try again is to load the page again, which goes
   * on where it was; but only a server that answers gives a page. */
  function unloaded(text = say("the_server_does_not_answer_this")) {
    const again = () =>
      fetch(location.pathname, { cache: "no-store" }).then(
        () => location.reload(),
        () => unloaded(text),
      );
    notify(text, "error", { action: [say("load_the_page_again"), again] });
  }

  /** Show a panel, and return what it offers. */
  async function open(/** @type {string} */ id, { focus = true } = {}) {
    const mine = (wanted = {}),
      panel = await offered(id);
    if (mine !== wanted || !panel) return panel;
    focusing = focus;
    // Lines that were told in another panel end with it.
    if (ui.open !== id)
      ui.messages = ui.messages.filter(({ of, action }) => !of || of === id || action);
    Object.assign(ui, { open: id, unfolded: false });
    return panel;
  }

  /** Open the second view, or close it. @param {number[]} [where] with the Julia set of this point */
  async function second(where = undefined) {
    ui.second ??= await import("./second.js")
      .then((file) => file.secondView(context))
      .catch(() => null);
    if (ui.second) ui.second.toggle(where);
    else unloaded(say("the_server_does_not_answer_the"));
  }

  let help = /** @type {Promise<Ui["explain"]>|null} */ (null); // about what is pointed at
  const explainer = () =>
    (help ??= import("./explain.js").then(
      (file) => (ui.explain = file.explainTool(context)),
      () => (help = null),
    ));
  const explain = () => void explainer().then((tool) => tool?.toggle());

  /** Show the second view of a page before this one. */
  async function resumeSecond() {
    const left = JSON.parse(sessionStorage.getItem(SECOND) ?? "null");
    if (!left) return;
    ui.second ??= (await import("./second.js")).secondView(context);
    ui.second.resume(left);
  }

  function close() {
    wanted = null;
    if (!ui.open) return false;
    ui.open = "";
    canvas.focus({ preventScroll: true });
    return true;
  }
  const toggle = (/** @type {string} */ id) => (ui.open === id ? close() : open(id));

  /** Escape ends one thing, the newest on top: a search, flight or preview, the menu, the panel, then a Julia set. */
  const escape = () =>
    ui.explain?.end() ||
    tried.close() ||
    [...built.values()].some((panel) => panel.cancel?.()) ||
    autopilot.stop() ||
    space.land() ||
    menu.close() ||
    julia.cancel() ||
    past.end() ||
    fold() ||
    close() ||
    julia.leave() ||
    ui.second?.close() ||
    bars(true);
  const fold = () => ui.unfolded && !(ui.unfolded = false);
  /** Show the bars, or hide them. @param {boolean} shown @returns {boolean} whether that is a change */
  const bars = (shown) => {
    const other = ui.bare === shown;
    ui.bare = !shown;
    if (shown) dismiss(HIDDEN);
    return other;
  };

  const dismiss = (/** @type {string} */ id) => {
    ui.messages = ui.messages.filter((message) => message.id !== id);
  };
  let count = 0;

  /** Show a line. @param {string} text @param {string} [kind]
   * @param {{action?: [string, () => void]|null, id?: string, stays?: boolean, also?: string}} [options]
   * `id`: of a message that replaces the one before it; `stays`: until it is dismissed; `also`: a text that tells no more */
  function notify(text, kind = "info", { action, id, stays = false, also } = {}) {
    text = inWords(text);
    const of = stays ? "" : ui.open, // the panel of which it tells
      message = { id: id ?? `${(count += 1)}`, text, kind, action, of, stays, also };
    ui.messages = withMessage(ui.messages, message);
    if (stays) return;
    const end = () => {
      ui.messages = ui.messages.filter((each) => each !== message);
    };
    setTimeout(end, MESSAGE_MS * (action ? 5 : kind === "error" ? 2 : 1));
  }
  // `told`, once all have heard of it: a panel shows it already.
  explorer.addEventListener("message", ({ detail }) =>
    queueMicrotask(() => detail.told || notify(detail.text, detail.kind, detail)),
  );
  effect(() => {
    if (unkept.count) untracked(() => notify(say("the_browser_keeps_nothing"), "error"));
  });
  effect(() => {
    const { paused, lost } = explorer;
    untracked(() => {
      if (paused)
        notify(say("this_view_has_taken_s", { seconds: Math.round(paused.seconds) }), "info", {
          id: PAUSED,
          stays: true,
          action: [say("go_on"), () => explorer.goOn()],
        });
      else dismiss(PAUSED);
      if (lost)
        notify(lost, "error", { id: LOST, stays: true, also: say("the_connection_is_lost") });
      else dismiss(LOST);
    });
  });

  async function upload(/** @type {File} */ file) {
    const held = /\.versions\.json$/i.test(file.name) ? "versions" : "file";
    (await offered(held))?.take?.(file);
  }

  function Bar() {
    const shown = PANELS.find(({ id }) => id === ui.open);
    return html`<nav class=${`bar glass${ui.unfolded ? " unfolded" : ""}`} aria-label=${say("panels")}>
      ${PANELS.filter(({ aside }) => !aside).map(
        ({
          id,
          title,
          key,
          main,
        }) => html`<button type="button" key=${id} data-id=${id} class=${main ? "tool" : "tool extra"} aria-label=${title} aria-expanded=${String(ui.open === id)} aria-keyshortcuts=${space.keyOf(key)}
        onClick=${() => toggle(id)}><${Icon} name=${id} /><span data-key=${space.keyOf(key).replace(/^.$/, (letter) => letter.toUpperCase())}>${title}</span></button>`,
      )}
      <${Button} label=${say("more")} symbol="more" kind=${shown && !shown.main && !shown.aside ? "tool more on" : "tool more"} aria-expanded=${String(ui.unfolded)} onClick=${() => {
        ui.unfolded = !ui.unfolded;
      }} /></nav>`;
  }

  const Corner = () =>
    html`<div class="corner glass" role="group" aria-label=${say("history")}>${CORNER.map(
      ([name, title, key]) => html`<${Button} key=${name} label=${title} symbol=${name} bare
    kind=${`tool ${name}`} title=${`${title} (${key})`} disabled=${(name === "undo" && !explorer.canUndo) || (name === "redo" && !explorer.canRedo)}
    ...${name === "past" ? { "aria-expanded": String(ui.open === name), onClick: () => toggle(name) } : { onClick: () => explorer[/** @type {"undo"|"redo"|"home"} */ (name)]() }} />`,
    )}</div>`;

  /** Buttons for whom has neither wheel nor keys; the compass is there while the picture is turned. */
  function Zooms() {
    const angle = explorer.placed?.rotation ?? 0;
    const zoom = (/** @type {number} */ scale) => () =>
      explorer.move({ scale, step: "zoom button" });
    const full = () =>
      document.fullscreenElement
        ? document.exitFullscreen()
        : document.documentElement.requestFullscreen();
    return html`<div class="zooms glass" role="group" aria-label=${say("view")}>
      ${Math.abs(angle) > 0.005 && html`<${Button} label=${say("stand_upright")} symbol="compass" bare kind="tool" style=${{ "--angle": `${angle}deg` }} title=${say("turned_by_stand_upright", { degrees: angle.toFixed(1) })} onClick=${() => explorer.upright()} />`}
      <${Button} label=${say("zoom_in")} symbol="plus" bare kind="tool" onClick=${zoom(32)} /><${Button} label=${say("zoom_out")} symbol="minus" bare kind="tool" onClick=${zoom(-32)} />
      <${Button} label=${say("second_view")} symbol="beside" bare kind="tool" title=${say("a_second_view_beside_the_picture")} onClick=${() => second()} />
      <${Button} label=${say("hide_the_bars")} symbol="hide" bare kind="tool" title=${say("hide_the_bars_h_a")} onClick=${() => bars(false)} />
      ${document.fullscreenEnabled && html`<${Button} label=${say("full_screen")} symbol="full" bare kind="tool" onClick=${full} />`}</div>`;
  }

  function Panel(/** @type {{id: string, title: string, wide?: boolean}} */ { id, title, wide }) {
    const { View, Actions, shown, hidden } = /** @type {Panel} */ (built.get(id));
    let head = /** @type {HTMLElement} */ (root);
    useLayoutEffect(() => {
      if (focusing) head.querySelector("h2")?.focus({ preventScroll: true });
    }, []);
    useEffect(() => {
      shown?.();
      return () => hidden?.();
    }, []);
    // On a phone the picture lies above the sheet: its middle is the middle of what is seen. Elsewhere what comes next is
    // aimed at the part beside the panel.
    useLayoutEffect(() => {
      const target = /** @type {HTMLElement} */ (head.parentNode);
      const aim = () => {
        canvas.style.translate =
          narrow() && !document.documentElement.classList.contains("two")
            ? `0 ${-target.clientHeight / 2}px`
            : "";
        const ratio = canvas.width / canvas.clientWidth,
          left = (target.offsetLeft + target.clientWidth) * ratio;
        const aside = !narrow() && !wide && canvas.width - left > LEAST_FREE * canvas.width;
        explorer.free = aside ? [left, 0, canvas.width, canvas.height] : null;
      };
      aim(); // at once: the observer calls a frame later
      const watch = new ResizeObserver(aim);
      watch.observe(target);
      watch.observe(canvas); // it shrinks for a second view
      return () => {
        watch.disconnect();
        canvas.style.translate = "";
        explorer.free = null;
      };
    }, []);
    return html`<section class=${`panel glass${wide ? " wide" : ""} panel-${id}`} aria-label=${title}>
      <header ref=${(/** @type {HTMLElement} */ made) => {
        head = made;
      }} ...${swipe(close)}><span class="grip"></span><h2 tabindex="-1">${title}</h2>${Actions && html`<${Actions} />`}
        <${Button} label=${say("explain_the_controls")} symbol="help" bare kind="quiet" title=${say("explain_the_controls_f1")} aria-pressed=${String(Boolean(ui.explain?.on()))} onClick=${explain} /><${Button} label=${say("close")} symbol="close" bare kind="quiet" onClick=${close} /></header>
      <div class="body"><${View} /></div>${!wide && html`<${Edge} />`}</section>`;
  }

  const Messages = () =>
    html`<div class="messages" role="alert">${ui.messages.map(
      ({
        id,
        text,
        kind,
        action,
      }) => html`<div key=${id} class=${`message glass ${kind}`}><span class="grow">${text}</span>
    ${action && html`<${Button} label=${action[0]} kind="quiet" onClick=${() => (action[1](), dismiss(id))} />`}
    <${Button} label=${say("dismiss")} symbol="close" bare kind="quiet" onClick=${() => dismiss(id)} /></div>`,
    )}</div>`;

  function App() {
    const shown = ui.open && panelOf(ui.open),
      Laid = built.get(ui.open)?.Over; // what a panel lays over the picture
    return html`<${Bar} /><div class="slot">${shown && html`<${Panel} key=${shown.id} id=${shown.id} title=${shown.title} wide=${shown.wide} />`}</div><${Corner} /><${Zooms} /><${StatusLine} explorer=${explorer} /><${Messages} />
      ${ui.dragged && html`<div class="veil"><p class="glass">${say("drop_a_scene_a_picture")}</p></div>`}${Laid && html`<${Laid} />`}<${julia.View} /><${space.View} />${ui.second && html`<${ui.second.View} />`}<${menu.View} /><${tried.View} />${ui.explain && html`<${ui.explain.View} />`}<${Over} ui=${ui} canvas=${canvas} />`;
  }

  effect(() => {
    root.classList.toggle("bare", ui.bare);
    root.dataset.open = ui.open && (panelOf(ui.open).wide ? "wide" : "side");
  });
  render(html`<${App} />`, root);
  keepFocus(root);
  watchCard(canvas, notify, dismiss);
  drop(ui, upload);
  paste(context);
  const opening = PANELS.filter(({ key }) => key).map(({ id, title, key }) => ({
    id,
    group: say("panels"),
    title,
    keys: [key],
    run: () => void toggle(id),
  }));
  addCommands(
    ...opening,
    {
      id: "hide",
      group: say("panels"),
      title: say("hide_or_show_everything_but"),
      keys: ["h"],
      run: () => void bars(ui.bare),
    },
    {
      id: "second",
      group: say("panels"),
      title: say("a_second_view_beside_the"),
      keys: ["t"],
      run: () => void second(),
    },
    {
      id: "explain",
      group: say("panels"),
      title: say("explain_the_control_that_is"),
      keys: ["F1"],
      run: explain,
    },
    {
      id: "close",
      group: say("panels"),
      title: say("cancel_close_the_panel_or"),
      keys: ["Escape"],
      run: escape,
    },
    ...julia.commands,
    ...past.commands,
    ...autopilot.commands,
    ...space.withOthers([...opening, ...autopilot.commands]), // the last: where there is a camera, its keys are not those of panels
    ...favorites(context),
  );
  addCommands({
    id: "nucleus",
    group: say("find"),
    title: say("fly_to_the_minibrot_in"),
    keys: ["n"],
    run: () => void open("find", { focus: false }).then((panel) => panel?.nucleus?.()),
  });
  hideBars(context, bars);
  startPage(context);
  // A page that is loaded again goes on with its film.
  explorer.addEventListener(
    "welcome",
    () => void import("./film.js").then(({ resumeFilm }) => resumeFilm(context)),
    { once: true },
  );
  explorer.addEventListener(
    "welcome",
    ({ detail }) =>
      detail.role &&
      void import("../class/index.js")
        .then(({ joinClass }) => {
          PANELS.push(joinClass(context, detail.role, linked));
          if (detail.role === "leader" && !linked) startWith(context, "class");
        })
        .catch(() => unloaded()),
    { once: true },
  );
  explorer.addEventListener("welcome", () => void resumeSecond().catch(() => {}), { once: true });
  // Later, so that panels of the toolbar open at once, and without the server too.
  explorer.addEventListener(
    "drawn",
    () =>
      setTimeout(() => {
        if (!explorer.connected) return; // panels that can't be loaded now never would be
        for (const { aside, load } of PANELS) if (!aside) void load().catch(() => {});
        explainer(); // it describes what gets the focus to screen readers
        void offered("versions"); // which notes them from then on
      }, LATER_MS),
    { once: true },
  );
  return context;
}

/** A tap hides the bars or closes the panel; a tap or a click shows the bars; on a full screen they hide while the pointer rests. */
function hideBars(
  /** @type {Context} */ { explorer, ui, close, notify },
  /** @type {(shown: boolean) => boolean} */ bars,
) {
  let waiting = 0,
    resting = 0,
    rested = false;
  explorer.addEventListener("tap", ({ detail }) => {
    const second = waiting;
    clearTimeout(waiting);
    waiting = 0;
    if (second || (!detail.touch && !ui.bare)) return; // a double tap zooms
    waiting = setTimeout(() => {
      waiting = 0;
      if (close()) return;
      bars(ui.bare);
      if (!ui.bare || kept.get("hid", false)) return;
      kept.set("hid", true); // once is enough
      notify(say("tap_the_picture_to_show"), "info", { id: HIDDEN });
    }, DOUBLE_MS);
  });
  explorer.addEventListener("again", () => clearTimeout(waiting)); // a tap zooms, or holds and flies
  explorer.addEventListener("hold", () => {
    waiting = 0;
  });
  const moved = () => {
    clearTimeout(resting);
    if (rested) bars(true);
    rested = false;
    if (!document.fullscreenElement) return;
    resting = setTimeout(() => {
      if (!ui.open) rested = bars(false);
    }, REST_MS);
  };
  addEventListener("pointermove", moved);
  document.addEventListener("fullscreenchange", moved);
}

/** Show the gallery first if neither the server nor the address names a scene; a leader of a class first lets guests in. */
function startPage(/** @type {Context} */ context) {
  const { explorer, open } = context;
  addEventListener("popstate", ({ state }) => {
    if (state?.gallery && state.entry !== explorer.entry) open("gallery");
  });
  if (location.hash) return;
  explorer.addEventListener(
    "welcome",
    ({ detail }) => {
      if (detail.gallery && detail.role !== "leader") startWith(context, "gallery");
    },
    { once: true },
  );
}

/** Show a panel first; moving the picture closes it. @param {Context} context @param {string} id */
function startWith({ explorer, ui, open, close }, id) {
  void open(id);
  explorer.addEventListener("gesture", () => ui.open === id && close(), { once: true });
}

/** The commands that choose favorite palettes. */
function favorites(/** @type {Context} */ { explorer, notify }) {
  return FAVORITE_KEYS.map((key, index) => ({
    id: `favorite-${key}`,
    group: say("color"),
    title: say("favorite_palettes_f2_to_f4"),
    hidden: index > 0,
    keys: [key],
    run: () => {
      const palette = favoritesIn(explorer.catalog)[index];
      if (palette) explorer.paint({ ...explorer.wished.color, palette });
      else notify(say("mark_a_palette_with_its"));
    },
  }));
}

let from = /** @type {number|null} */ (null); // where the drag of a panel's head has begun

/** Return the listeners of a panel's head: on a phone it is dragged down to close it. */
function swipe(/** @type {() => boolean} */ close) {
  const slide = (
    /** @type {PointerEvent} */ { currentTarget },
    /** @type {string} */ transform,
  ) => {
    const head = /** @type {HTMLElement} */ (currentTarget);
    /** @type {HTMLElement} */ (head.parentNode).style.transform = transform;
  };
  const end = (/** @type {PointerEvent} */ event) => {
    const far = from !== null && event.clientY - from > 80;
    from = null;
    slide(event, "");
    if (far) close();
  };
  return {
    onPointerDown: (/** @type {PointerEvent} */ event) => {
      if (/** @type {Element} */ (event.target).closest("button, input") || !narrow()) return;
      from = event.clientY;
      captured(event);
    },
    onPointerMove: (/** @type {PointerEvent} */ event) => {
      if (from !== null) slide(event, `translateY(${Math.max(0, event.clientY - from)}px)`);
    },
    onPointerUp: end,
    onPointerCancel: end,
  };
}

/** Open what is pasted anywhere but into a field of text: a link, a scene, a place, a file. */
function paste(/** @type {Context} */ { explorer, ui, notify, upload, close }) {
  addEventListener("paste", async (event) => {
    const { target, clipboardData: data } = event;
    if (
      !explorer.scene ||
      !data ||
      (target instanceof HTMLElement && target.closest(`${TEXT}:not([readonly])`))
    )
      return;
    const [file] = data.files,
      text = data.getData("text");
    if (file) {
      upload(file);
      return;
    }
    const { hasNoPlace, meaningOf } = await import("../paste.js"),
      found = meaningOf(text);
    if (!found) notify(say("what_was_pasted_is_no"), "error");
    else if (found.wrong) notify(found.wrong, "error");
    else if (found.file) upload(new File([text], found.file));
    else if (found.view && hasNoPlace(explorer))
      notify(say("the_pasted_numbers_are_a"), "info", {
        action: [
          say("mandelbrot_set_here"),
          () => explorer.open({ scene: { formula: "mandelbrot", view: found.view } }),
        ],
      });
    else {
      if (ui.open === "gallery") close(); // it would cover the place
      if (found.view) explorer.place(found.view);
      else explorer.open(found);
    }
  });
}

/** Take a file that is dropped anywhere. */
function drop(/** @type {Ui} */ ui, /** @type {(file: File) => unknown} */ take) {
  let depth = 0;
  const files = (/** @type {DragEvent} */ event) =>
    [...(event.dataTransfer?.types ?? [])].includes("Files");
  const show = (/** @type {number} */ step) => {
    depth = Math.max(0, depth + step);
    ui.dragged = depth > 0;
  };
  addEventListener("dragenter", (event) => files(event) && show(1));
  addEventListener("dragleave", (event) => files(event) && show(-1));
  addEventListener("dragover", (event) => files(event) && event.preventDefault());
  addEventListener("drop", async (event) => {
    if (!files(event)) return;
    event.preventDefault();
    show(-depth);
    const given = [...(event.dataTransfer?.files ?? [])]; // empty later
    const file = (await import("../paste.js")).togetherOf(given);
    if (file) take(file);
  });
}
