/** Share and export: a link, texts, and a picture file of any size. */
import { html, useSignalEffect } from "../html.js";
import { formOf } from "../offer.js";
import { kept, observe } from "../state.js";
import {
  bytes,
  Button,
  copyText,
  Drawn,
  duration,
  Knob,
  Progress,
  Row,
  Segments,
  Select,
  TextField,
  Toggle,
} from "../ui.js";
import { inWords, numberField } from "../written.js";
import { Road } from "./road.js";

const REST_MS = 300; // after the last change, before the server is asked
/** @type {[string, "link"|"toml"|"command", string][]} */
const TEXTS = [
  [
    "Link",
    "link",
    "Holds the whole scene with all digits. Opens in a browser that reaches this explorer.",
  ],
  ["TOML", "toml", "A file for fractals render."],
  ["Command line", "command", "Draws this picture without the explorer."],
];

/** @type {Record<string, string>} */
const PROGRAMS = {
  kfr: "Kalles Fraktaler",
  fraktaler3: "Fraktaler-3",
  flame: "Apophysis, Chaotica",
}; // that scenes are copied for

/** A field for the user's name, which is asked once. */
export const Author = () =>
  html`<${Row} label="Your name" hint="Pictures, scenes and bookmarks of yours carry it. This browser keeps it." control=${(
    /** @type {string} */ id,
  ) =>
    html`<${TextField} id=${id} maxlength="200" autocomplete="name" value=${kept.get("author", "")} put=${(/** @type {string} */ name) => kept.set("author", name.trim())} />`} />`;

export function sharePanel(/** @type {Context} */ { explorer, notify }) {
  const own = observe({ told: /** @type {Partial<Received.LinkOf & {scene: WholeScene}>} */ ({}) });
  const ask = () => {
    const { scene } = explorer; // the texts are shown as long as it is
    explorer.request({ t: "link" }).then(
      (told) => {
        own.told = { ...told, scene, link: `${location.origin}${location.pathname}#${told.link}` };
      },
      (/** @type {Error} */ error) => notify(error.message, "error"),
    );
  };

  async function copyPicture() {
    try {
      const blob = new Promise((resolve) => {
        explorer.still().toBlob(resolve, "image/png");
      });
      await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })]);
      notify("The picture was copied.");
    } catch {
      notify("The browser does not allow copying of pictures here: Export makes a file.", "error");
    }
  }
  /** A button that copies the scene for another program. */
  const other = (
    /** @type {Received.OtherText} */ { name, text, lost },
  ) => html`<${Button} key=${name} label=${`Copy for ${PROGRAMS[name]}`} symbol="copy" kind="wide-button" title=${lost.length ? `Without ${lost.join(", ")}` : ""}
    onClick=${() => copyText(text, notify)} />`;

  function View() {
    useSignalEffect(() => {
      kept.get("author", ""); // another name is another text
      if (!explorer.placed || !explorer.scene) return;
      const waiting = setTimeout(ask, REST_MS);
      return () => clearTimeout(waiting);
    });
    const told = own.told.scene === explorer.scene ? own.told : /** @type {typeof own.told} */ ({});
    return html`<div class="stack spaced">${TEXTS.map(
      ([name, key, hint]) => html`<div key=${key} class="stack">
      <${Row} label=${name} hint=${hint} control=${(/** @type {string} */ id) => html`<textarea id=${id} class="mono" readonly rows=${key === "toml" ? 9 : 3} spellcheck=${false} value=${told[key] ?? ""}></textarea>`} />
      <div class="line"><${Button} label=${`Copy ${name === "TOML" ? name : name.toLowerCase()}`} symbol="copy" kind="quiet" onClick=${() => copyText(told[key] ?? "", notify)} /></div></div>`,
    )}
      <div class="stack"><h3>Elsewhere</h3><${Button} label="Copy the picture" symbol="copy" kind="wide-button" title="As it is seen, to paste it into another program" onClick=${copyPicture} />
        ${told.others?.map(other)}
        ${
          told.toml &&
          html`<a class="button wide-button" href=${formOf(told.scene ?? {}, told.toml)} target="_blank" rel="noopener noreferrer">Offer to the gallery</a>
          <p class="hint">Opens a form on GitHub with this scene. Nothing is sent before you send the form.</p>`
        }</div><${Author} /></div>`;
  }
  return { View };
}

export const KEPT = "Else what is drawn ends a minute after the page was closed";

/** Return who draws, where the server has a cluster. @param {number|null} [count] of its workers */
export const byWorkers = (count) =>
  typeof count !== "number"
    ? ""
    : count
      ? ` That is for this machine; ${count} worker${count > 1 ? "s" : ""} of the cluster share${count > 1 ? "" : "s"} the work.`
      : " No worker has joined the cluster: this machine draws alone.";

const SAMPLES = [
  ["1", "1"],
  ["2", "2 × 2"],
  ["3", "3 × 3"],
  ["4", "4 × 4"],
  ["8", "8 × 8"],
];
const FORMATS = [
  ["png", "PNG"],
  ["jpg", "JPEG"],
  ["webp", "WebP"],
  ["tiff", "TIFF"],
  ["html", "HTML"],
];
const PIXELS = numberField({ such: "1920", least: 1, most: 32_768, whole: true, large: true }); // of a side of a file
const LOUPE = 308; // CSS pixels
const RAW = [
  ["npz", "NumPy"],
  ["exr", "EXR"],
]; // counts and z of every sample
const LAYERED = [["exr", "EXR"]]; // of a solid
/** @type {[string, number, number][]} */
const SIZES = [
  ["Full HD", 1920, 1080],
  ["4K", 3840, 2160],
  ["8K", 7680, 4320],
  ["A3 print", 4961, 3508],
  ["Square", 2048, 2048],
  ["Phone", 1440, 3120],
];

export function exportPanel(/** @type {Context} */ { explorer, canvas, notify, open }) {
  if (explorer.welcome?.export === false)
    return {
      View: () =>
        html`<p class="hint">This server exports no files. The command under Share draws the picture on your machine.</p>`,
    };
  const own = observe({
    size: /** @type {number[]|null} */ (null),
    wrong: [false, false], // whether a side is no number of pixels
    samples: "2",
    format: "png",
    keep: false,
    loupe: false,
    at: /** @type {number[]|null} */ (null),
    part: /** @type {{picture: HTMLCanvasElement, asked: string}|null} */ (null),
    forecast: "",
    told: /** @type {Told|null} */ (null),
    file: /** @type {Received.Exported|null} */ (null),
  }); // `size` null: as seen; `at`: of the loupe, in shares of the canvas, null: the middle
  let job = /** @type {Job|null} */ (null);
  const focus = (/** @type {HTMLElement|null} */ link) => link?.focus(); // once: a function of each rendering would be called again
  const seen = () => explorer.placed?.size ?? [1920, 1080];
  /** Raw numbers are of images that have values; a picture in place of them for others. */
  const format = () => {
    const known = explorer.placed?.camera ? [...FORMATS, ...LAYERED] : FORMATS;
    return explorer.placed?.values || known.some(([name]) => name === own.format)
      ? own.format
      : "png";
  };
  /** @returns {Asked<Sent.Export>} */
  const message = () => ({
    t: "export",
    size: own.size ?? seen(),
    supersampling: Number(own.samples),
    format: /** @type {Sent.Export["format"]} */ (format()),
  });

  async function estimate(/** @type {Asked<Sent.Export>} */ asked) {
    const tell = (/** @type {string} */ text) => {
      if (JSON.stringify(asked) === JSON.stringify(message())) own.forecast = text;
    };
    try {
      const { seconds, memory, samples, workers } = await explorer.request({
        ...asked,
        forecast: true,
      });
      tell(
        `About ${duration(seconds)} and ${bytes(memory)} of memory for ${(samples / 1e6).toLocaleString("en", { maximumSignificantDigits: 3 })} million samples.${byWorkers(workers)}`,
      );
    } catch (error) {
      tell(inWords(error.message));
    }
  }
  async function draw() {
    if (job) return;
    Object.assign(own, { file: null, told: { share: null, text: "Starting" } });
    const mine = (job = explorer.job({ ...message(), keep: own.keep }, (told) => {
      if (told.t !== "progress") return;
      const { of, done, what } = told;
      own.told = { share: of ? done / of : null, text: what };
    }));
    try {
      own.file = await mine.done;
    } catch (error) {
      notify(
        error.cancelled ? "The export was cancelled." : error.message,
        error.cancelled ? "info" : "error",
      );
    } finally {
      job = null;
      own.told = null;
    }
  }

  /** @returns {Asked<Sent.Loupe>} */
  const loupe = () => {
    const at =
      own.at ??
      explorer.seen.middle.map(
        (/** @type {number} */ part, /** @type {number} */ k) => part / 16 / explorer.size[k],
      );
    return {
      t: "loupe",
      size: own.size ?? seen(),
      supersampling: Number(own.samples),
      at: at.map((/** @type {number} */ share, /** @type {number} */ k) =>
        Math.round(16 * share * explorer.size[k]),
      ),
      width: Math.min(512, Math.round(LOUPE * devicePixelRatio)),
    };
  };
  let looking = false;
  /** Have the part of the file drawn that the loupe lies on, until it lies still. */
  async function look() {
    if (looking) return;
    looking = true;
    let asked = "";
    while (own.loupe && asked !== JSON.stringify([loupe(), explorer.placed.frame])) {
      asked = JSON.stringify([loupe(), explorer.placed.frame]);
      await explorer
        .job(loupe(), (heard) => {
          if (heard.t === "surprised")
            own.part = { picture: explorer.pixelsOf(heard.preview), asked };
        })
        .done.catch(({ message: told }) => {
          own.forecast = told;
        });
    }
    looking = false;
  }
  /** The square on the picture that the loupe shows. */
  function Over() {
    if (!own.loupe || !explorer.placed) return null;
    const { size, at, width = LOUPE } = loupe(),
      ratio = canvas.clientWidth / canvas.width,
      side = Math.max(22, (width / size[0]) * canvas.clientWidth);
    const put = (/** @type {number[]} */ to) => {
      own.at = to.map((/** @type {number} */ part, /** @type {number} */ k) =>
        Math.max(0, Math.min(1, part / ratio / explorer.size[k])),
      );
    };
    return html`<${Knob} label="Loupe" kind="loupe" at=${at.map((/** @type {number} */ part) => (part / 16) * ratio)} style=${{ width: `${side}px`, height: `${side}px`, margin: `${-side / 2}px`, translate: canvas.style.translate }} put=${put} />`;
  }

  const Side = (
    /** @type {{name: string, index: number, size: number[]}} */ { name, index, size },
  ) =>
    html`<${TextField} inputmode="numeric" aria-label=${name} value=${size[index]} read=${PIXELS} told=${(
      /** @type {boolean} */ wrong,
    ) => {
      own.wrong = own.wrong.with(index, wrong);
    }} put=${(/** @type {number} */ side) => {
      own.size = size.with(index, side);
    }} />`;

  function View() {
    useSignalEffect(() => {
      const asked = message();
      if (own.told || !explorer.placed) return;
      const waiting = setTimeout(() => estimate(asked), REST_MS);
      return () => clearTimeout(waiting);
    });
    useSignalEffect(() => {
      if (own.loupe && explorer.drawn?.pass === "exact" && loupe()) look();
    });
    const size = own.size ?? seen(),
      { file } = own;
    return html`<div class="stack"><${Road} at="export" open=${open} />
      <div class="chips" role="group" aria-label="Sizes">${
        /** @type {typeof SIZES} */ ([["As seen", ...seen()], ...SIZES]).map(
          ([title, w, h]) => html`<${Button} key=${title} label=${title} kind="chip-button"
        aria-pressed=${String(size[0] === w && size[1] === h)} onClick=${() => {
          own.size = title === "As seen" ? null : [w, h];
        }} />`,
        )
      }</div>
      <div class="line"><${Side} name="Width in pixels" index=${0} size=${size} /><span class="faint">×</span><${Side} name="Height in pixels" index=${1} size=${size} /><span class="faint">pixels</span></div>
      <${Select} label="Samples a pixel" choices=${SAMPLES} value=${own.samples} put=${(
        /** @type {string} */ samples,
      ) => {
        own.samples = samples;
      }} />
      ${
        /** @type {[string, string[][]][]} */ ([
          ["Format", FORMATS],
          ...(explorer.placed?.values
            ? [["Raw numbers", RAW]]
            : explorer.placed?.camera
              ? [["Light and surface", LAYERED]]
              : []),
        ]).map(
          ([
            title,
            choices,
          ]) => html`<div key=${title} class="row"><span class="row-head">${title}</span>
        <${Segments} label=${title} choices=${choices} value=${format()} put=${(chosen) => {
          own.format = chosen;
        }} /></div>`,
        )
      }
      ${format() === "html" && html`<p class="hint">One file for a friend, who can go on from this place: it draws by itself in any browser and needs no server. Solids and flames can only be magnified in it.</p>`}
      ${
        explorer.placed?.values &&
        RAW.some(([name]) => name === format()) &&
        html`<p class="hint">Count and z of each sample, and what the coloring needs. ${
          format() === "npz"
            ? "NumPy reads the file, and fractals recolor gives it other colors."
            : "Programs for compositing read the file; fractals recolor does too."
        }</p>`
      }
      <${Toggle} label="Loupe on the file's pixels" about="Shows a square of the file, pixel by pixel, before it is drawn" value=${own.loupe} put=${(
        /** @type {boolean} */ on,
      ) => {
        own.loupe = on;
      }} />
      ${own.loupe && html`<div class="loupe-part">${own.part && html`<${Drawn} key=${own.part.asked} picture=${own.part.picture} />`}</div><p class="hint">Exactly these pixels are in the file. Drag the square on the picture.</p>`}
      ${!kept.get("author", "") && html`<${Author} />`}
      <p class="forecast" role="status">${own.forecast}</p>
      <div class="actions"><${Button} label="Export" symbol="export" kind=${file ? "wide-button" : "primary wide-button"} disabled=${Boolean(own.told) || own.wrong.includes(true)} onClick=${draw} /></div>
      <${Progress} told=${own.told} cancel=${() => job?.cancel()} />
      <div class="stack" aria-live="polite">${
        file &&
        html`<a class="button primary wide-button" href=${file.url} download="" ref=${focus}>Download (${bytes(file.bytes)})</a>
        <p class="hint">Drawn in ${duration(file.seconds)}. The server keeps the file for 10 minutes.</p>`
      }</div>
      <${Toggle} label="Go on when this page closes" about=${KEPT} value=${own.keep} put=${(
        /** @type {boolean} */ keep,
      ) => {
        own.keep = keep;
      }} /></div>`;
  }
  return { View, Over };
}
