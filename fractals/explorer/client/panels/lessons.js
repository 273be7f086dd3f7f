/** Lessons in the picture: what is seen, a few lines at a time, each with a button that shows it. */
import { html } from "../html.js";
import { transport } from "../net.js";
import { REPOSITORY } from "../offer.js";
import { kept } from "../state.js";
import { Button } from "../ui.js";
import { say } from "../words.js";

const PAGES = `${REPOSITORY}/blob/main/lessons/README.md`;

/** @typedef {{label: string, gallery?: string, needs?: "searches", run?: (context: Context) => void}} Shown a scene of the gallery, or what is done */
/** @type {{title: string, text: string, show: Shown[]}[]} */
const LESSONS = [
  {
    title: say("a_question_about_each_point"),
    text: say("each_point_of_the_picture"),
    show: [{ label: say("show_the_set"), gallery: "mandelbrot" }],
  },
  {
    title: say("the_border_has_no_end"),
    text: say("turn_the_wheel_over_the"),
    show: [{ label: say("show_the_valley"), gallery: "seahorse" }],
  },
  {
    title: say("copies_of_the_whole"),
    text: say("each_view_of_the_border"),
    show: [
      { label: say("show_a_copy"), gallery: "minibrot" },
      {
        label: say("fly_to_the_next"),
        needs: "searches",
        run: ({ open }) => void open("find").then((panel) => panel?.nucleus?.()),
      },
    ],
  },
  {
    title: say("each_point_has_a_julia"),
    text: say("now_c_stays_and_the"),
    show: [
      { label: say("beside_the_picture"), run: ({ second, julia }) => void second(julia.middle()) },
      { label: say("show_a_rabbit"), gallery: "rabbit" },
    ],
  },
  {
    title: say("colors_are_chosen"),
    text: say("a_coloring_gives_each_point"),
    show: [
      { label: say("show_silver"), gallery: "distance" },
      { label: say("open_the_colors"), run: ({ open }) => void open("color") },
    ],
  },
  {
    title: say("deeper_than_digits"),
    text: say("a_processors_numbers_have_16"),
    show: [{ label: say("show_the_place"), gallery: "wheels" }],
  },
  {
    title: say("another_formula_another_world"),
    text: say("if_x_and_y_lose"),
    show: [
      { label: say("show_the_ships"), gallery: "armada" },
      { label: say("open_the_formulas"), run: ({ open }) => void open("formula") },
    ],
  },
];

export function lessonsPanel(/** @type {Context} */ context) {
  const { explorer } = context;
  /** Tell whether this page can show something: a site has a part of the gallery, and no searches. @param {Shown} shown */
  const has = ({ gallery, needs }) =>
    gallery
      ? explorer.catalog.scenes.some(({ name }) => name === gallery)
      : !needs || !transport.lacks(needs);
  const show = (/** @type {Shown} */ { gallery, run }) =>
    gallery ? explorer.open({ gallery }, "", { aim: true }) : run?.(context);
  function View() {
    const at = Math.min(kept.get("lesson", 0), LESSONS.length - 1),
      { title, text, show: all } = LESSONS[at];
    const go = (/** @type {number} */ by) => () => kept.set("lesson", at + by);
    return html`<div class="stack"><p class="faint">${say("of", { value: at + 1, count: LESSONS.length })}</p><h3 aria-live="polite">${title}</h3><p>${text}</p>
      ${all.filter(has).map((each, index) => html`<${Button} key=${each.label} label=${each.label} kind=${index ? "wide-button" : "primary wide-button"} onClick=${() => show(each)} />`)}
      <div class="line"><${Button} label=${say("back")} kind="quiet" disabled=${at === 0} onClick=${go(-1)} /><span class="grow"></span>
        <${Button} label=${say("next")} kind="quiet" disabled=${at === LESSONS.length - 1} onClick=${go(1)} /></div>
      <p class="hint">${say("how_such_pictures_are_computed")} <a href=${PAGES} target="_blank" rel="noreferrer">${say("the_written_lessons")}</a> ${say("and_by_the_command_fractals")}</p></div>`;
  }
  return { View };
}
