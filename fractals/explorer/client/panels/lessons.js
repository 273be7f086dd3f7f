/** Lessons in the picture: what is seen, a few lines at a time, each with a button that shows it. */
import { html } from "../html.js";
import { REPOSITORY } from "../offer.js";
import { kept } from "../state.js";
import { Button } from "../ui.js";
import { say } from "../words.js";

const PAGES = `${REPOSITORY}/blob/main/lessons/README.md`;

/** @type {{title: string, text: string, show: [string, (context: Context) => void][]}[]} */
const LESSONS = [
  {
    title: say("a_question_about_each_point"),
    text: say("each_point_of_the_picture"),
    show: [
      [
        say("show_the_set"),
        ({ explorer }) => explorer.open({ gallery: "mandelbrot" }, "", { aim: true }),
      ],
    ],
  },
  {
    title: say("the_border_has_no_end"),
    text: say("turn_the_wheel_over_the"),
    show: [
      [
        say("show_the_valley"),
        ({ explorer }) => explorer.open({ gallery: "seahorse" }, "", { aim: true }),
      ],
    ],
  },
  {
    title: say("copies_of_the_whole"),
    text: say("each_view_of_the_border"),
    show: [
      [
        say("show_a_copy"),
        ({ explorer }) => explorer.open({ gallery: "minibrot" }, "", { aim: true }),
      ],
      [say("fly_to_the_next"), ({ open }) => void open("find").then((panel) => panel?.nucleus?.())],
    ],
  },
  {
    title: say("each_point_has_a_julia"),
    text: say("now_c_stays_and_the"),
    show: [
      [say("beside_the_picture"), ({ second, julia }) => void second(julia.middle())],
      [
        say("show_a_rabbit"),
        ({ explorer }) => explorer.open({ gallery: "rabbit" }, "", { aim: true }),
      ],
    ],
  },
  {
    title: say("colors_are_chosen"),
    text: say("a_coloring_gives_each_point"),
    show: [
      [
        say("show_silver"),
        ({ explorer }) => explorer.open({ gallery: "distance" }, "", { aim: true }),
      ],
      [say("open_the_colors"), ({ open }) => void open("color")],
    ],
  },
  {
    title: say("deeper_than_digits"),
    text: say("a_processors_numbers_have_16"),
    show: [
      [
        say("show_the_place"),
        ({ explorer }) => explorer.open({ gallery: "wheels" }, "", { aim: true }),
      ],
    ],
  },
  {
    title: say("another_formula_another_world"),
    text: say("if_x_and_y_lose"),
    show: [
      [
        say("show_the_ships"),
        ({ explorer }) => explorer.open({ gallery: "armada" }, "", { aim: true }),
      ],
      [say("open_the_formulas"), ({ open }) => void open("formula")],
    ],
  },
];

export function lessonsPanel(/** @type {Context} */ context) {
  function View() {
    const at = Math.min(kept.get("lesson", 0), LESSONS.length - 1),
      { title, text, show } = LESSONS[at];
    const go = (/** @type {number} */ by) => () => kept.set("lesson", at + by);
    return html`<div class="stack"><p class="faint">${say("of", { value: at + 1, count: LESSONS.length })}</p><h3 aria-live="polite">${title}</h3><p>${text}</p>
      ${show.map(([label, run], index) => html`<${Button} key=${label} label=${label} kind=${index ? "wide-button" : "primary wide-button"} onClick=${() => run(context)} />`)}
      <div class="line"><${Button} label=${say("back")} kind="quiet" disabled=${at === 0} onClick=${go(-1)} /><span class="grow"></span>
        <${Button} label=${say("next")} kind="quiet" disabled=${at === LESSONS.length - 1} onClick=${go(1)} /></div>
      <p class="hint">${say("how_such_pictures_are_computed")} <a href=${PAGES} target="_blank" rel="noreferrer">${say("the_written_lessons")}</a> ${say("and_by_the_command_fractals")}</p></div>`;
  }
  return { View };
}
