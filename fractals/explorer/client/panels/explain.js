/** Help about the control that is pointed at: its words are those of the scene's keys, the catalog, the hints and the commands. */
import { html } from "../html.js";
import { commands } from "../keys.js";
import { REPOSITORY } from "../offer.js";
import { observe } from "../state.js";
import { Button, touched } from "../ui.js";
import { keyOf, say } from "../words.js";

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
  gallery: say("scenes_to_begin_with"),
  color: say("palette_coloring_layers_and_light"),
  formula: say("what_is_iterated_a_formula"),
  find: say("minibrots_spirals_and_beautiful_places"),
  surprise: say("twelve_scenes_that_are_like"),
  inspect: say("numbers_of_a_point_and"),
  bookmark: say("places_that_you_keep"),
  share: say("this_scene_as_a_link"),
  export: say("the_picture_as_a_file"),
  film: say("a_film_of_what_you"),
  help: say("all_keys_and_gestures_and"),
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
/** Keys of a scene whose fields have other labels, by the keys of these words. @type {Record<string, string>} */
const KEY_OF = {
  draw_where: "mask",
  inside_color: "inside",
  frames_a_second: "fps",
  picture_width: "width",
  rotation_in_degrees: "rotation",
  center_real_part: "center",
  center_imaginary_part: "center",
  width_in_pixels: "size",
  height_in_pixels: "size",
  width_of_the_film_in_pixels: "size",
  height_of_the_film_in_pixels: "size",
  looks_at: "target",
  samples_a_pixel: "supersampling",
  change_over_time: "tracks",
  the_value_comes_here: "ease",
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
function keyMeaning(schema, panel, label) {
  const word = keyOf(label) ?? label.toLowerCase().replaceAll(" ", "_"),
    comes = label.startsWith(say("the_film_comes_to", { title: "" })),
    key = KEY_OF[word] ?? (comes ? "ease" : word);
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
      name = say("help"),
      text = touched() ? say("tap_a_control_and_it") : say("point_at_a_control_or"),
      link = `${DOCS}how-to/explore-in-a-browser.md`,
    } = own.told ?? {};
    return html`<div class="explain glass" role="status"><div class="line"><strong class="grow">${name}</strong><${Button} label=${say("end_the_help")} symbol="close" bare kind="quiet" onClick=${toggle} /></div>
      ${text && html`<p>${text}</p>`}<a href=${link} target="_blank" rel="noreferrer">${say("read_more_in_the_documentation")}</a></div>`;
  }
  return { View, toggle, end: () => own.on && toggle(), on: () => own.on };
}
