/** Lessons in the picture: what is seen, a few lines at a time, each with a button that shows it. */
import { html } from "../html.js";
import { REPOSITORY } from "../offer.js";
import { kept } from "../state.js";
import { Button } from "../ui.js";

const PAGES = `${REPOSITORY}/blob/main/lessons/README.md`;

/** @type {{title: string, text: string, show: [string, (context: Context) => void][]}[]} */
const LESSONS = [
  {
    title: "A question about each point",
    text: "Each point of the picture is a number c. Begin with z = 0, and replace z by z² + c, again and again. Where z stays near 0 for ever, c is in the Mandelbrot set, which is black here. Elsewhere z leaves, and the color tells after how many steps.",
    show: [
      [
        "Show the set",
        ({ explorer }) => explorer.open({ gallery: "mandelbrot" }, "", { aim: true }),
      ],
    ],
  },
  {
    title: "The border has no end",
    text: "Turn the wheel over the border of the set, or double-click. Whatever the zoom, the border shows more. The valley between the large heart and the disk beside it is named after its seahorses.",
    show: [
      [
        "Show the valley",
        ({ explorer }) => explorer.open({ gallery: "seahorse" }, "", { aim: true }),
      ],
    ],
  },
  {
    title: "Copies of the whole",
    text: "Each view of the border contains small copies of the set. In the middle of a copy z returns to 0 after some steps: that number is the period of the copy. The key N flies to a copy in the view.",
    show: [
      ["Show a copy", ({ explorer }) => explorer.open({ gallery: "minibrot" }, "", { aim: true })],
      ["Fly to the next", ({ open }) => void open("find").then((panel) => panel?.nucleus?.())],
    ],
  },
  {
    title: "Each point has a Julia set",
    text: "Now c stays, and the point of the picture is the first z. That is the Julia set of c. Those of points inside the Mandelbrot set hang together, those of points outside are dust. Hold J and move the pointer to see them, or have one beside the picture, and drag the ring.",
    show: [
      ["Beside the picture", ({ second, julia }) => void second(julia.middle())],
      ["Show a rabbit", ({ explorer }) => explorer.open({ gallery: "rabbit" }, "", { aim: true })],
    ],
  },
  {
    title: "Colors are chosen",
    text: "A coloring gives each point a number, such as the count of its steps, and the palette gives each number a color. Density tells how often the palette is gone through. The same points can look like silver or like fire.",
    show: [
      ["Show silver", ({ explorer }) => explorer.open({ gallery: "distance" }, "", { aim: true })],
      ["Open the colors", ({ open }) => void open("color")],
    ],
  },
  {
    title: "Deeper than digits",
    text: "A processor's numbers have 16 digits, too few beyond a zoom of 10¹⁵. There one point is computed with all its digits, and the others as small differences from it. This place is at a zoom of 10¹²⁷.",
    show: [
      ["Show the place", ({ explorer }) => explorer.open({ gallery: "wheels" }, "", { aim: true })],
    ],
  },
  {
    title: "Another formula, another world",
    text: "If x and y lose their signs before each squaring, ships burn. The panel Formula has many more, and takes yours as text, such as z**3 + c.",
    show: [
      ["Show the ships", ({ explorer }) => explorer.open({ gallery: "armada" }, "", { aim: true })],
      ["Open the formulas", ({ open }) => void open("formula")],
    ],
  },
];

export function lessonsPanel(/** @type {Context} */ context) {
  function View() {
    const at = Math.min(kept.get("lesson", 0), LESSONS.length - 1),
      { title, text, show } = LESSONS[at];
    const go = (/** @type {number} */ by) => () => kept.set("lesson", at + by);
    return html`<div class="stack"><p class="faint">${at + 1} of ${LESSONS.length}</p><h3 aria-live="polite">${title}</h3><p>${text}</p>
      ${show.map(([label, run], index) => html`<${Button} key=${label} label=${label} kind=${index ? "wide-button" : "primary wide-button"} onClick=${() => run(context)} />`)}
      <div class="line"><${Button} label="Back" kind="quiet" disabled=${at === 0} onClick=${go(-1)} /><span class="grow"></span>
        <${Button} label="Next" kind="quiet" disabled=${at === LESSONS.length - 1} onClick=${go(1)} /></div>
      <p class="hint">How such pictures are computed, from a loop in Python to the limit of a processor, is taught by <a href=${PAGES} target="_blank" rel="noreferrer">the written lessons</a> and by the command fractals learn.</p></div>`;
  }
  return { View };
}
