/** Help about the control that is pointed at: its words are those of the scene's keys, the catalog, the hints and the commands. */
import { html } from "../html.js";
import { commands } from "../keys.js";
import { REPOSITORY } from "../offer.js";
import { observe } from "../state.js";
import { Button, touched } from "../ui.js";

const CONTROLS = "button, input, select, textarea, summary, a, [role=slider]",
  FIELDS = ":is(input, select, textarea)";
const DOCS = `${REPOSITORY}/blob/main/docs/`,
  KEYS = "reference/scene.md#keys-of-a-scene";
/** Pages of the documentation, by panel. @type {Record<string, string>} */
const PAGES = {
  color: "how-to/color-like-a-painter.md",
  formula: "reference/formulas.md",
  find: "how-to/find-a-deep-place.md",
  share: "how-to/share-a-web-page.md",
  export: "how-to/print-a-poster.md",
  film: "how-to/make-a-film.md",
  lessons: "lessons.md",
};
/** What the panels are for. @type {Record<string, string>} */
const ABOUT = {
  gallery: "Scenes to begin with",
  color: "Palette, coloring, layers and light",
  formula: "What is iterated: a formula of the list, or your own",
  find: "Minibrots, spirals and beautiful places in the view",
  surprise: "Twelve scenes that are like this one",
  inspect: "Numbers of a point and of the picture, also to type",
  bookmark: "Places that you keep",
  share: "This scene as a link, as text, and for other programs",
  export: "The picture as a file, at any size",
  film: "A film of what you see",
  help: "All keys and gestures, and lessons",
};
/** Tables of a scene in which a label is looked for, by panel. @type {Record<string, string[]>} */
const TABLES = {
  film: ["FilmSettings", "Key", "ImageSettings"],
  export: ["ImageSettings", "Light"],
  inspect: ["View", "Camera"],
  formula: ["Scatter", "Light", "Camera"],
};
const OTHERS = [
  "Layer",
  "Color",
  "Develop",
  "Relief",
  "Display",
  "Light",
  "Camera",
  "Scatter",
  "View",
];
/** Keys of a scene whose fields have other labels. @type {Record<string, string>} */
const KEY_OF = {
  "draw where": "mask",
  "inside color": "inside",
  "frames a second": "fps",
  "picture width": "width",
  "rotation in degrees": "rotation",
  "center, real part": "center",
  "center, imaginary part": "center",
  "width in pixels": "size",
  "height in pixels": "size",
  "width of the film in pixels": "size",
  "height of the film in pixels": "size",
  "looks at": "target",
  "samples a pixel": "supersampling",
  "change over time": "tracks",
  "the value comes here": "ease",
  size: "sun_size",
  power: "sun_power",
};
const DESCRIBED = "explained"; // the id of the text for screen readers

/** Return the words of a control. @param {Element} control */
const nameOf = (control) =>
  (
    control.getAttribute("aria-label") ||
    /** @type {HTMLInputElement} */ (control).labels?.[0]?.querySelector(":scope > span")
      ?.textContent ||
    /** @type {HTMLInputElement} */ (control).labels?.[0]?.textContent ||
    control.textContent ||
    ""
  ).trim();

/** Return the meaning of the key of a scene that a label names. @param {SceneSchema} schema @param {string} panel @param {string} label */
export function keyMeaning(schema, panel, label) {
  const plain = label.toLowerCase(),
    key =
      KEY_OF[plain] ??
      (plain.startsWith("the film comes to") ? "ease" : plain.replaceAll(" ", "_"));
  const found = [...(TABLES[panel] ?? []), ...OTHERS]
    .map((table) => schema.$defs[table]?.properties[key])
    .find((each) => each?.description);
  return found?.description ?? "";
}

/** Return what a control does: its name, its meaning, and a page of the documentation.
 * @param {Element} control @param {Received.Catalog} catalog @param {string} panel that is open */
export function explained(control, catalog, panel) {
  const name = nameOf(control),
    at = control.closest(".panel") ? panel : "",
    page = PAGES[at] ?? "how-to/explore-in-a-browser.md";
  const near = control.matches("summary")
    ? control.parentElement?.querySelector(":scope > .stack > .hint")
    : control.closest(".row")?.querySelector(".hint, .row-head .faint");
  const hint = near?.textContent ?? "",
    { id = at } = /** @type {HTMLElement} */ (control).dataset; // of a panel's button
  const meaning = control.matches(FIELDS) && at ? keyMeaning(catalog.schema, at, name) : "",
    title =
      control.closest("[data-about]")?.getAttribute("data-about") ??
      control.getAttribute("title") ??
      "";
  const keys = control.getAttribute("aria-keyshortcuts"),
    command = commands.find((each) => keys && each.keys.includes(keys));
  const text =
    hint ||
    meaning ||
    (title !== name ? title : "") ||
    (command && command.title !== name ? command.title : "") ||
    (control.matches("summary")
      ? ""
      : control.closest(".stack")?.querySelector(":scope > .hint")?.textContent) ||
    ABOUT[id] ||
    "";
  return {
    name,
    text: text.charAt(0).toUpperCase() + text.slice(1),
    link: DOCS + (meaning && !hint ? KEYS : page),
  };
}

export function explainTool(/** @type {Context} */ { explorer, ui }) {
  const own = observe({ on: false, told: /** @type {ReturnType<typeof explained>|null} */ (null) }),
    root = /** @type {HTMLElement} */ (document.getElementById("ui"));
  const described = Object.assign(document.createElement("span"), { id: DESCRIBED, hidden: true });
  root.after(described);
  /** Return the control of an event; of a row that has one, it is that. @param {Event} event @returns {Element|null} */
  const controlOf = ({ target }) =>
    target instanceof Element
      ? (target.closest(CONTROLS) ??
        target.closest(".row, .toggle")?.querySelector(CONTROLS) ??
        null)
      : null;
  const look = (/** @type {Event} */ event) => {
    const control = controlOf(event);
    if (!control || !explorer.catalog || control.closest(".explain")) return;
    const told = explained(control, explorer.catalog, ui.open);
    if (own.on) own.told = told;
    if (event.type !== "focusin" || !told.text || control.getAttribute("aria-describedby")) return;
    described.textContent = told.text; // a description is read where the focus arrives
    control.setAttribute("aria-describedby", DESCRIBED);
    control.addEventListener("blur", () => control.removeAttribute("aria-describedby"), {
      once: true,
    });
  };
  for (const name of ["pointerover", "focusin"]) root.addEventListener(name, look);
  /** With fingers, which can't point without pressing, a tap explains and does nothing else. @param {any} event */
  const tap = (event) => {
    if (!own.on || !touched() || event.target.closest(".explain")) return;
    event.preventDefault();
    event.stopPropagation();
    look(event);
  };
  root.addEventListener("click", tap, true);
  function toggle() {
    const field = explorer.catalog && root.querySelector(`:is(${FIELDS}, [role=slider]):focus`); // which is meant, then
    Object.assign(own, {
      on: !own.on,
      told: field ? explained(field, explorer.catalog, ui.open) : null,
    });
    root.classList.toggle("explaining", own.on);
    return true;
  }

  function View() {
    if (!own.on) return null;
    const {
      name = "Help",
      text = touched()
        ? "Tap a control, and it is explained here."
        : "Point at a control, or go to it with Tab, and it is explained here.",
      link = `${DOCS}how-to/explore-in-a-browser.md`,
    } = own.told ?? {};
    return html`<div class="explain glass" role="status"><div class="line"><strong class="grow">${name}</strong><${Button} label="End the help" symbol="close" bare kind="quiet" onClick=${toggle} /></div>
      ${text && html`<p>${text}</p>`}<a href=${link} target="_blank" rel="noreferrer">Read more in the documentation</a></div>`;
  }
  return { View, toggle, end: () => own.on && toggle(), on: () => own.on };
}
