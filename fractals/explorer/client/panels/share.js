/** Share and export: a link, texts, and a picture file of any size. */
import { inWords } from "../heard.js";
import { html, useSignalEffect } from "../html.js";
import { transport } from "../net.js";
import { formOf, siteOf } from "../offer.js";
import { canvasOf } from "../picture.js";
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
import { number, ofServer, say, within, words } from "../words.js";
import { numberField } from "../written.js";
import { Road } from "./road.js";

const REST_MS = 300; // after the last change, before the server is asked
/** @type {[string, "link"|"toml"|"command", string][]} */
const TEXTS = [
  [say("link"), "link", say("holds_the_whole_scene_with")],
  ["TOML", "toml", say("a_file_for_fractals_render")],
  [say("command_line"), "command", say("draws_this_picture_without_the")],
];

/** @type {Record<string, string>} */
const PROGRAMS = {
  kfr: "Kalles Fraktaler",
  fraktaler3: "Fraktaler-3",
  flame: "Apophysis, Chaotica",
}; // that scenes are copied for

/** A field for the user's name, which is asked once. */
export const Author = () =>
  html`<${Row} label=${say("your_name")} hint=${say("pictures_scenes_and_bookmarks_of")} control=${(
    /** @type {string} */ id,
  ) =>
    html`<${TextField} id=${id} maxlength="200" autocomplete="name" value=${kept.get("author", "")} put=${(/** @type {string} */ name) => kept.keep("author", name.trim())} />`} />`;

export function sharePanel(/** @type {Context} */ { explorer, notify }) {
  const own = observe({
    told: /** @type {Partial<Received.LinkOf & {scene: WholeScene, site: string}>} */ ({}),
  });
  const here = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname); // links of this page are for this machine
  const ask = () => {
    const { scene } = explorer; // the texts are shown as long as it is
    explorer.request({ t: "link" }).then(
      (told) => {
        own.told = {
          ...told,
          scene,
          link: `${location.origin}${location.pathname}#${told.link}`,
          site: here ? siteOf(scene, told.link) : "",
        };
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
      notify(say("the_picture_was_copied"));
    } catch {
      notify(say("the_browser_does_not_allow"), "error");
    }
  }
  /** A button that copies the scene for another program. */
  const other = (
    /** @type {Received.OtherText} */ { name, text, lost },
  ) => html`<${Button} key=${name} label=${say("copy_for", { value: PROGRAMS[name] })} symbol="copy" kind="wide-button" title=${lost.length ? say("without", { list: lost.map(ofServer).join(", ") }) : ""}
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
      <div class="line"><${Button} label=${say("copy_name", { name: name === "TOML" ? name : within(name) })} symbol="copy" kind="quiet" disabled=${!told[key]} onClick=${() => copyText(told[key] ?? "", notify)} /></div></div>`,
    )}
      <div class="stack"><h3>${say("elsewhere")}</h3><${Button} label=${say("copy_the_picture")} symbol="copy" kind="wide-button" title=${say("as_it_is_seen_to")} onClick=${copyPicture} />
        ${told.site && html`<${Button} label=${say("copy_a_link_for_anybody")} symbol="copy" kind="wide-button" title=${say("opens_in_the_explorer_of")} onClick=${() => copyText(told.site ?? "", notify)} />`}
        ${told.others?.map(other)}
        ${
          told.toml &&
          html`<a class="button wide-button" href=${formOf(told.scene ?? {}, told.toml)} target="_blank" rel="noopener noreferrer">${say("offer_to_the_gallery")}</a>
          <p class="hint">${say("opens_a_form_on_github")}</p>`
        }</div><${Author} /></div>`;
  }
  return { View };
}

export const KEPT = say("else_what_is_drawn_ends");

/** What the server says of a file that it has made, such as why the CPU has drawn it. */
export const Notes = (/** @type {{of: Received.Exported}} */ { of }) =>
  of.notes?.map((note) => html`<p key=${note} class="hint">${inWords(note)}</p>`);

/** Return who draws, where the server has a cluster. @param {number|null} [count] of its workers */
export const byWorkers = (count) =>
  typeof count !== "number"
    ? ""
    : count
      ? say(count > 1 ? "workers_share" : "one_worker_shares", { count })
      : say("no_worker_has_joined_the");

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
const PIXELS = numberField({
  such: "1920",
  least: 1,
  most: transport.most,
  whole: true,
  large: true,
}); // of a side of a file
const LOUPE = 308; // CSS pixels
const RAW = [
  ["npz", "NumPy"],
  ["exr", "EXR"],
]; // counts and z of every sample
const LAYERED = [["exr", "EXR"]]; // of a solid
/** @type {[string, number, number][]} */
const SIZES = [
  [say("full_hd"), 1920, 1080],
  ["4K", 3840, 2160],
  ["8K", 7680, 4320],
  [say("a3_print"), 4961, 3508],
  [say("square"), 2048, 2048],
  [say("phone"), 1440, 3120],
];

export function exportPanel(/** @type {Context} */ { explorer, canvas, notify, open }) {
  if (explorer.welcome?.export === false)
    return {
      View: () => html`<p class="hint">${say("this_server_exports_no_files")}</p>`,
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
  const lacking = transport.lacks("other_files"), // and what else needs a server
    formats = lacking ? FORMATS.slice(0, 1) : FORMATS;
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
        say("about_and_of_memory_for", {
          duration: duration(seconds),
          bytes: bytes(memory),
          number: number(samples / 1e6, { maximumSignificantDigits: 3 }),
          byWorkers: byWorkers(workers),
        }),
      );
    } catch (error) {
      tell(error.message);
    }
  }
  async function draw() {
    if (job) return;
    Object.assign(own, { file: null, told: { share: null, text: say("starting") } });
    const mine = (job = explorer.job({ ...message(), keep: own.keep }, (told) => {
      if (told.t !== "progress") return;
      const { of, done, what } = told;
      own.told = { share: of ? done / of : null, text: words(ofServer(what)) };
    }));
    try {
      own.file = await mine.done;
    } catch (error) {
      notify(
        error.cancelled ? say("the_export_was_cancelled") : error.message,
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
          if (heard.t === "surprised") own.part = { picture: canvasOf(heard.preview), asked };
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
    return html`<${Knob} label=${say("loupe")} kind="loupe" at=${at.map((/** @type {number} */ part) => (part / 16) * ratio)} style=${{ width: `${side}px`, height: `${side}px`, margin: `${-side / 2}px`, translate: canvas.style.translate }} put=${put} />`;
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
      <div class="chips" role="group" aria-label=${say("sizes")}>${
        /** @type {typeof SIZES} */ ([[say("as_seen"), ...seen()], ...SIZES]).map(
          ([title, w, h]) => html`<${Button} key=${title} label=${title} kind="chip-button"
        aria-pressed=${String(size[0] === w && size[1] === h)} onClick=${() => {
          own.size = title === say("as_seen") ? null : [w, h];
        }} />`,
        )
      }</div>
      <div class="line"><${Side} name=${say("width_in_pixels")} index=${0} size=${size} /><span class="faint">×</span><${Side} name=${say("height_in_pixels")} index=${1} size=${size} /><span class="faint size-unit">${say("pixels")}</span></div>
      ${lacking && own.wrong.includes(true) && html`<p class="hint">${transport.lacks("larger")}</p>`}
      <${Select} label=${say("samples_a_pixel")} choices=${SAMPLES} value=${own.samples} put=${(
        /** @type {string} */ samples,
      ) => {
        own.samples = samples;
      }} />
      ${
        /** @type {[string, string[][]][]} */ ([
          [say("format"), formats],
          ...(lacking
            ? []
            : explorer.placed?.values
              ? [[say("raw_numbers"), RAW]]
              : explorer.placed?.camera
                ? [[say("light_and_surface"), LAYERED]]
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
      ${lacking && html`<p class="hint">${lacking}</p>`}
      ${format() === "html" && html`<p class="hint">${say("one_file_for_a_friend")}</p>`}
      ${
        explorer.placed?.values &&
        RAW.some(([name]) => name === format()) &&
        html`<p class="hint">${say("count_and_z_of_each")} ${
          format() === "npz"
            ? say("numpy_reads_the_file_and")
            : say("programs_for_compositing_read_the")
        }</p>`
      }
      ${
        !lacking &&
        html`<${Toggle} label=${say("loupe_on_the_files_pixels")} about=${say("shows_a_square_of_the")} value=${own.loupe} put=${(
          /** @type {boolean} */ on,
        ) => {
          own.loupe = on;
        }} />`
      }
      ${own.loupe && html`<div class="loupe-part">${own.part && html`<${Drawn} key=${own.part.asked} picture=${own.part.picture} />`}</div><p class="hint">${say("exactly_these_pixels_are_in")}</p>`}
      ${!kept.get("author", "") && html`<${Author} />`}
      <p class="forecast" role="status">${own.forecast}</p>
      <div class="actions"><${Button} label=${say("export")} symbol="export" kind=${file ? "wide-button" : "primary wide-button"} disabled=${Boolean(own.told) || own.wrong.includes(true)} onClick=${draw} /></div>
      <${Progress} told=${own.told} cancel=${() => job?.cancel()} />
      <div class="stack" aria-live="polite">${
        file &&
        html`<a class="button primary wide-button" href=${file.url} download="" ref=${focus}>${say("download", { bytes: bytes(file.bytes) })}</a>
        ${!lacking && html`<p class="hint">${say("drawn_in_the_server_keeps", { duration: duration(file.seconds) })}</p>`}<${Notes} of=${file} />`
      }</div>
      <${Button} label=${say("poster_desk")} kind="wide-button" title=${transport.lacks("posters") || say("paper_margins_and_a_signature")} disabled=${Boolean(transport.lacks("posters"))} onClick=${() => open("poster")} />
      ${
        !lacking &&
        html`<${Toggle} label=${say("go_on_when_this_page")} about=${KEPT} value=${own.keep} put=${(
          /** @type {boolean} */ keep,
        ) => {
          own.keep = keep;
        }} />`
      }</div>`;
  }
  return { View, Over };
}
