/** The poster desk: paper, margins, a line and a signature around the picture, what is cut away, a proof at print size, and the price. */
import { html, useEffect, useSignal, useSignalEffect } from "../html.js";
import { transport } from "../net.js";
import { canvasOf, newCanvas } from "../picture.js";
import {
  INCH,
  layoutOf,
  OWN,
  packed,
  PAPERS,
  scaled,
  sidesOf,
  signedAt,
  USUAL,
  viewedAt,
} from "../poster.js";
import { Slider } from "../slider.js";
import { kept, observe } from "../state.js";
import {
  bytes,
  Button,
  Drawn,
  duration,
  Knob,
  Progress,
  Row,
  Section,
  Segments,
  Select,
  TextField,
  Toggle,
} from "../ui.js";
import { number, ofServer, say, words } from "../words.js";
import { numberField } from "../written.js";
import { drawFirst } from "./previews.js";
import { Road } from "./road.js";
import { Notes } from "./share.js";

const REST_MS = 300; // after the last change, before the server is asked
const WIDTH = 900; // pixels of the longer side of the picture on the desk
const PROOF = 40; // mm of the paper's that the proof shows
const MOST_PROOF = 512; // pixels
const CARD = 85.6; // mm: the width of a bank card (ISO/IEC 7810)
const NOMINAL = 96 / INCH; // CSS pixels a mm, where a screen is as its system says
const MOST_BACK = 50; // changes of the desk that can be taken back
const RESOLUTIONS = ["100", "150", "200", "300", "600"];
const SAMPLES = ["1", "2", "3", "4", "8"];
const FORMATS = [
  ["png", "PNG"],
  ["tiff", "TIFF"],
  ["jpg", "JPEG"],
];
const NAMES = /** @type {Record<string, string>} */ ({
  letter: say("letter"),
  tabloid: say("tabloid"),
  own: say("own_size"),
}); // of papers; others are the same in all languages
const WRITINGS = [
  ["hand", say("hand")],
  ["serif", say("serif")],
  ["sans", say("sans")],
]; // fonts of the style sheet
const PLACES = [
  ["left", say("sign_left")],
  ["middle", say("sign_middle")],
  ["right", say("sign_right")],
  ["on_left", say("sign_on_left")],
  ["on_right", say("sign_on_right")],
];
const SIDE = numberField({ such: "420", least: 20, most: 2000 }); // mm

/** @typedef {import("../poster.js").Poster} Poster */
/** @typedef {import("../poster.js").Layout} Layout */
/** @typedef {Poster & {samples: string, format: string, marks: boolean}} Desk */

/** @type {Desk} */
const FIRST = { ...USUAL, samples: "3", format: "png", marks: true };

/** Draw a signature as large as it will be on paper. @param {Poster} poster @param {number} fine pixels a mm */
function drawnSignature({ sign, hand, tall, ink }, fine) {
  const family = getComputedStyle(document.documentElement).getPropertyValue(`--${hand}`),
    font = `${Math.max(1, tall * fine)}px ${family}`,
    measure = newCanvas(1, 1)[1];
  measure.font = font;
  const { width } = measure.measureText(sign),
    size = [Math.ceil(width + 0.5 * tall * fine), Math.ceil(1.6 * tall * fine)].map((side) =>
      Math.min(8192, Math.max(1, side)),
    ),
    [canvas, context] = newCanvas(size[0], size[1], { willReadFrequently: true });
  Object.assign(context, { font, fillStyle: ink, textBaseline: "middle" });
  context.fillText(sign, 0.25 * tall * fine, size[1] / 2);
  return { canvas, context, size };
}

export function posterPanel(/** @type {Context} */ { explorer, notify, open }) {
  const lacking = transport.lacks("posters");
  if (lacking) return { View: () => html`<p class="hint">${lacking}</p>` };
  if (explorer.welcome?.export === false)
    return { View: () => html`<p class="hint">${say("this_server_exports_no_files")}</p>` };
  // `at`: of the proof, in shares of the picture; `picture`: how the view looks there; `wrong`: fields that hold no number
  const own = observe({
    desk: /** @type {Desk} */ ({
      ...FIRST,
      sign: kept.get("author", ""),
      ...kept.get("poster", /** @type {Partial<Desk>} */ ({})),
    }),
    back: /** @type {Desk[]} */ ([]),
    at: [0.5, 0.5],
    picture: /** @type {HTMLCanvasElement|null} */ (null),
    proof: /** @type {HTMLCanvasElement|null} */ (null),
    proofWrong: "",
    price: "",
    told: /** @type {Told|null} */ (null),
    file: /** @type {Received.Exported|null} */ (null),
  });
  let job = /** @type {Job|null} */ (null);
  const put = (/** @type {Partial<Desk>} */ changes) => {
    own.back = [...own.back, own.desk].slice(-MOST_BACK);
    own.desk = { ...own.desk, ...changes };
    own.file = null;
    kept.set("poster", own.desk);
  };
  const undo = () => {
    const before = own.back.at(-1);
    if (!before) return;
    own.back = own.back.slice(0, -1);
    own.desk = before;
    kept.set("poster", before);
  };
  const shown = () => explorer.placed?.size ?? explorer.size;
  const layout = () => layoutOf(own.desk, shown(), !explorer.placed?.camera);

  /** The message of the file, but for its signature. @param {Layout} its @returns {Asked<Sent.Export>} */
  const message = ({ pixels, span }) => {
    const { dpi, samples, format, ground, gap, line, lineColor } = own.desk,
      side = (/** @type {number} */ mm) => Math.round((mm * dpi) / INCH);
    return {
      t: "export",
      size: pixels.picture.slice(2),
      supersampling: Number(samples),
      format: /** @type {Sent.Export["format"]} */ (format),
      span,
      dpi,
      paper: {
        size: pixels.sheet,
        at: pixels.picture.slice(0, 2),
        color: ground,
        gap: side(gap),
        line: side(line),
        line_color: lineColor,
      },
    };
  };
  /** @param {Layout} its @returns {Promise<Asked<Sent.Export>>} */
  async function signed(its) {
    const { desk } = own,
      asked = message(its);
    if (!desk.sign.trim() || !asked.paper) return asked;
    const fine = desk.dpi / INCH,
      { context, size } = drawnSignature(desk, fine),
      { data } = context.getImageData(0, 0, size[0], size[1]),
      opacity = Uint8Array.from({ length: size[0] * size[1] }, (_, k) => data[4 * k + 3]);
    const at = signedAt(
      desk,
      its,
      size.map((side) => side / fine),
    ).map((mm) => Math.round(mm * fine));
    const signature = { at, size, mask: await packed(opacity), color: desk.ink };
    return { ...asked, paper: { ...asked.paper, signature } };
  }

  async function estimate() {
    const its = layout();
    if (!its) return;
    const asked = message(its),
      tell = (/** @type {string} */ text) => {
        const now = layout();
        if (now && JSON.stringify(asked) === JSON.stringify(message(now))) own.price = text;
      };
    try {
      const told = await explorer.request({ ...asked, forecast: true });
      tell(
        say("the_price", {
          duration: duration(told.seconds),
          bytes: bytes(told.memory),
          number: number(told.samples / 1e6, { maximumSignificantDigits: 3 }),
        }),
      );
    } catch (error) {
      tell(error.message);
    }
  }
  async function draw() {
    const its = layout();
    if (job || !its) return;
    Object.assign(own, { file: null, told: { share: null, text: say("starting") } });
    try {
      const mine = (job = explorer.job(await signed(its), (told) => {
        if (told.t !== "progress") return;
        const { of, done, what } = told;
        own.told = { share: of ? done / of : null, text: words(ofServer(what)) };
      }));
      own.file = /** @type {Received.Exported} */ (await mine.done);
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

  /** The view as it lies on the paper, drawn small. @param {Layout} its */
  const small = ({ span, picture: [, , across, down] }) => {
    const { scene, placed } = explorer,
      larger = WIDTH / Math.max(across, down),
      size = [across, down].map((side) => Math.max(16, Math.round(side * larger)));
    const view = placed.camera
      ? {}
      : {
          ...scene.view,
          center: placed.center,
          rotation: placed.rotation,
          width: scaled(placed.width, span),
        };
    return {
      width: size[0],
      scene: /** @type {Scene} */ ({ view, image: { ...scene.image, size } }),
    };
  };

  /** @param {Layout} its @returns {Asked<Sent.Loupe>} */
  const proofOf = (its) => {
    const { size = [], supersampling, span } = message(its),
      at = viewedAt(its, shown(), own.at);
    return {
      t: "loupe",
      size,
      supersampling,
      span,
      at: at.map((share, k) => Math.round(16 * share * explorer.size[k])),
      width: Math.min(MOST_PROOF, Math.round((PROOF * own.desk.dpi) / INCH)),
    };
  };
  let looking = false;
  async function look() {
    if (looking) return;
    looking = true;
    let asked = "";
    const now = () => {
      const its = layout();
      return its ? JSON.stringify([proofOf(its), explorer.placed.frame]) : "";
    };
    while (now() && asked !== now()) {
      asked = now();
      own.proofWrong = "";
      await explorer
        .job(JSON.parse(asked)[0], (heard) => {
          if (heard.t === "surprised") own.proof = canvasOf(heard.preview);
        })
        .done.catch((/** @type {Error} */ { message: told }) => {
          own.proof = null;
          own.proofWrong = told;
        });
    }
    looking = false;
  }

  /** The sheet of paper, with the picture, and what is cut away. @param {{its: Layout}} given */
  function Sheet({ its }) {
    const { desk } = own,
      { sheet, trim, picture } = its;
    const width = useSignal(0);
    const share = (/** @type {number} */ mm, /** @type {number} */ axis) =>
      `${(100 * mm) / sheet[axis]}%`;
    const box = (/** @type {number[]} */ [left, top, across, down]) => ({
      left: share(left, 0),
      top: share(top, 1),
      width: share(across, 0),
      height: share(down, 1),
    });
    const around = (/** @type {number} */ by) =>
      box([picture[0] - by, picture[1] - by, picture[2] + 2 * by, picture[3] + 2 * by]);
    const fine = width.value ? (2 * width.value) / sheet[0] : 4, // pixels a mm of the drawn signature
      mark = desk.sign.trim() ? drawnSignature(desk, fine) : null,
      signedSize = mark?.size.map((side) => side / fine) ?? [0, 0];
    const safe = desk.bleed + desk.safe,
      part = Math.min(PROOF, picture[2], picture[3]),
      middle = [0, 1].map((k) => picture[k] + own.at[k] * picture[2 + k]),
      scale = width.value / sheet[0];
    const watch = (/** @type {HTMLElement|null} */ node) => {
      if (!node || node.watched) return;
      const seen = new ResizeObserver(() => {
        width.value = node.clientWidth;
      });
      seen.observe(node);
      node.watched = /** @type {never} */ (seen);
    };
    return html`<div class="sheet-of-paper" style=${{ aspectRatio: `${sheet[0]} / ${sheet[1]}`, background: desk.ground, "--shape": sheet[0] / sheet[1] }} ref=${watch} role="img" aria-label=${say("poster_of", { width: number(trim[0]), height: number(trim[1]), paper: NAMES[desk.paper] ?? desk.paper })}>
      ${desk.line > 0 && html`<div class="on-paper" style=${{ ...around(desk.gap + desk.line), background: desk.lineColor }}></div><div class="on-paper" style=${{ ...around(desk.gap), background: desk.ground }}></div>`}
      <div class="on-paper the-picture" style=${box(picture)}>${own.picture ? html`<${Drawn} key=${own.picture} picture=${own.picture} />` : html`<span class="empty"></span>`}</div>
      ${mark && html`<div class="on-paper" style=${box([...signedAt(desk, its, signedSize), ...signedSize])}><${Drawn} key=${`${desk.sign} ${desk.ink} ${desk.hand} ${mark.size}`} picture=${mark.canvas} /></div>`}
      ${desk.marks && html`<div class="on-paper cut-away" style=${{ ...box([0, 0, sheet[0], sheet[1]]), borderWidth: `${desk.bleed * scale}px` }}></div><div class="on-paper safe" style=${box([safe, safe, sheet[0] - 2 * safe, sheet[1] - 2 * safe])}></div>`}
      ${
        scale > 0 &&
        html`<${Knob} label=${say("proof")} kind="proof-knob" at=${middle.map((mm) => mm * scale)} style=${{ width: `${Math.max(24, part * scale)}px`, height: `${Math.max(24, part * scale)}px` }} put=${(
          /** @type {number[]} */ to,
        ) => {
          own.at = to.map((pixels, k) =>
            Math.min(1, Math.max(0, (pixels / scale - picture[k]) / picture[2 + k])),
          );
        }} />`
      }</div>`;
  }

  function Proof() {
    const fine = kept.get("screen", NOMINAL),
      { dpi } = own.desk,
      across = (Math.min(MOST_PROOF, Math.round((PROOF * dpi) / INCH)) / dpi) * INCH;
    return html`<div class="proof"><div class="proof-part" style=${{ width: `${across * fine}px` }}>${own.proof ? html`<${Drawn} key=${own.proof} picture=${own.proof} />` : html`<span class="empty"></span>`}</div>
      <p class="hint">${own.proofWrong || say("the_square_at_print_size", { mm: number(Math.round(across)) })}</p></div>
      <${Section} title=${say("size_of_the_screen")} name="screen" open=${false}><div class="bank-card" style=${{ width: `${CARD * fine}px` }} aria-hidden="true"></div>
        <${Slider} label=${say("pixels_a_millimeter")} value=${fine} usual=${NOMINAL} least=${2} most=${9} hint=${say("make_the_bar_as_wide")} live=${(/** @type {number} */ now) => kept.set("screen", now)} put=${(/** @type {number} */ now) => kept.set("screen", now)} /><//>`;
  }

  const Length = (
    /** @type {{name: "bleed"|"safe"|"margin"|"foot"|"gap"|"line"|"tall", label: string, most: number, hint?: string}} */ {
      name,
      label,
      most,
      hint = "",
    },
  ) =>
    html`<${Slider} label=${label} value=${own.desk[name]} usual=${FIRST[name]} least=${name === "tall" ? 1 : 0} most=${most} hint=${hint} put=${(
      /** @type {number} */ mm,
    ) => put({ [name]: Math.max(name === "tall" ? 1 : 0, Math.min(500, mm)) })} />`;
  const Tint = (/** @type {{name: "ground"|"lineColor"|"ink", label: string}} */ { name, label }) =>
    html`<${Row} label=${label} control=${(/** @type {string} */ id) => html`<input type="color" id=${id} value=${own.desk[name]} onChange=${(/** @type {FieldEvent} */ { target }) => put({ [name]: target.value })} />`} />`;

  function Fields(/** @type {{its: Layout|null}} */ { its }) {
    // No component of its own: it would be another one in each render, and its fields would lose the focus to the picture.
    const { desk } = own,
      sides = sidesOf(desk),
      side = (/** @type {string} */ label, /** @type {number} */ index) =>
        html`<${TextField} inputmode="decimal" aria-label=${label} value=${sides[index]} read=${SIDE} put=${(/** @type {number} */ mm) => put({ own: sides.with(index, mm), upright: index ? sides[0] < mm : mm < sides[1], paper: OWN })} />`;
    return html`<${Select} label=${say("paper")} choices=${[...PAPERS.map(([name]) => name), OWN].map((name) => [name, NAMES[name] ?? name])} value=${desk.paper} put=${(/** @type {string} */ paper) => put(paper === OWN ? { paper, own: sides } : { paper })} />
      <div class="line">${side(say("width_in_millimeters"), 0)}<span class="faint">×</span>${side(say("height_in_millimeters"), 1)}<span class="faint">${say("mm")}</span></div>
      <${Segments} label=${say("how_it_hangs")} choices=${[
        ["across", say("landscape")],
        ["upright", say("portrait")],
      ]} value=${desk.upright ? "upright" : "across"} put=${(/** @type {string} */ way) => put({ upright: way === "upright", own: [...desk.own].reverse() })} />
      ${
        !explorer.placed?.camera &&
        html`<${Segments} label=${say("how_the_picture_fills")} choices=${[
          ["fill", say("fill_the_place")],
          ["whole", say("show_the_whole_view")],
        ]} value=${desk.fit} put=${(/** @type {"fill"|"whole"} */ fit) => put({ fit })} />`
      }
      <p class="hint" role="status">${its && its.lost > 0.005 ? say("of_the_view_is_cut", { percent: Math.round(100 * its.lost) }) : ""}</p>
      <${Section} title=${say("margins_and_bleed")} name="poster margins">
        <${Length} name="margin" label=${say("margin_in_mm")} most=${100} hint=${say("without_margins_the_picture")} /><${Length} name="foot" label=${say("more_below_in_mm")} most=${60} />
        <${Tint} name="ground" label=${say("color_of_the_paper")} />
        <${Length} name="bleed" label=${say("bleed_in_mm")} most=${10} hint=${say("paper_beyond_the_cut")} /><${Length} name="safe" label=${say("safe_from_the_cut")} most=${30} hint=${say("nothing_that_matters_should")} />
        <${Toggle} label=${say("show_cut_and_safe_area")} value=${desk.marks} put=${(/** @type {boolean} */ marks) => put({ marks })} /><//>
      <${Section} title=${say("line_around_the_picture")} name="poster line" open=${false}>
        <${Length} name="line" label=${say("thickness_in_mm")} most=${10} /><${Length} name="gap" label=${say("distance_in_mm")} most=${30} /><${Tint} name="lineColor" label=${say("color_of_the_line")} /><//>
      <${Section} title=${say("signature")} name="poster signature">
        <${Row} label=${say("text")} control=${(/** @type {string} */ id) => html`<${TextField} id=${id} maxlength="80" value=${desk.sign} put=${(/** @type {string} */ sign) => put({ sign })} />`} />
        <${Segments} label=${say("writing")} choices=${WRITINGS} value=${desk.hand} put=${(/** @type {string} */ hand) => put({ hand })} />
        <${Select} label=${say("place")} choices=${PLACES} value=${desk.place} put=${(/** @type {string} */ place) => put({ place })} />
        <${Length} name="tall" label=${say("height_in_mm")} most=${40} /><${Tint} name="ink" label=${say("ink_of_the_signature")} /><//>
      <${Section} title=${say("file")} name="poster file">
        <${Select} label=${say("pixels_an_inch")} choices=${RESOLUTIONS.map((dpi) => [dpi, dpi])} value=${String(desk.dpi)} hint=${say("resolution_of_paper")} put=${(/** @type {string} */ dpi) => put({ dpi: Number(dpi) })} />
        <${Select} label=${say("samples_a_pixel")} choices=${SAMPLES.map((count) => [count, count === "1" ? "1" : `${count} × ${count}`])} value=${desk.samples} put=${(/** @type {string} */ samples) => put({ samples })} />
        <${Segments} label=${say("format")} choices=${FORMATS} value=${desk.format} put=${(/** @type {string} */ format) => put({ format })} /><//>
      <div class="line wrap"><${Button} label=${say("take_back")} symbol="undo" kind="quiet" title=${say("the_last_change_of_the_desk")} disabled=${own.back.length === 0} onClick=${undo} /><${Button} label=${say("usual_values")} kind="quiet" onClick=${() => put({ ...FIRST, sign: desk.sign })} /></div>`;
  }

  function View() {
    useSignalEffect(() => {
      const its = layout();
      if (!explorer.placed || !its || own.told) return;
      message(its);
      const waiting = setTimeout(estimate, REST_MS);
      return () => clearTimeout(waiting);
    });
    const its = explorer.placed ? layout() : null,
      wanted = its && explorer.drawn ? small(its) : null,
      text = JSON.stringify([wanted, explorer.placed?.frame, explorer.scene?.color]);
    useEffect(() => {
      if (!wanted) return;
      let sheet = /** @type {ReturnType<typeof drawFirst>|null} */ (null);
      const waiting = setTimeout(() => {
        sheet = drawFirst(
          explorer,
          { scenes: [wanted.scene], width: wanted.width },
          (_, { picture }) => {
            own.picture = picture;
          },
        );
        sheet.done.catch(() => {});
      }, REST_MS);
      return () => (clearTimeout(waiting), sheet?.cancel());
    }, [text]);
    useSignalEffect(() => {
      const now = layout();
      if (now && explorer.drawn?.pass === "exact") (proofOf(now), void look());
    });
    const { file } = own,
      [width, height] = its?.pixels.sheet ?? [0, 0];
    return html`<div><${Road} at="export" open=${open} /><div class="poster-desk">
      <div class="poster-paper"><div class="table-top">${its ? html`<${Sheet} its=${its} />` : html`<p class="hint wrong" role="alert">${say("the_margins_leave_no_room")}</p>`}</div>
        ${its && html`<${Proof} />`}</div>
      <div class="stack poster-fields"><${Fields} its=${its} />
        <div class="actions stack"><p class="forecast" role="status"><span class="strong">${its ? say("pixels_of_the_file", { width: number(width), height: number(height) }) : ""}</span><br />${its ? own.price : ""}</p>
        <${Button} label=${say("make_the_poster")} symbol="export" kind=${file ? "wide-button" : "primary wide-button"} disabled=${Boolean(own.told) || !its} onClick=${draw} />
        <${Progress} told=${own.told} cancel=${() => job?.cancel()} />
        <div aria-live="polite">${file && html`<a class="button primary wide-button" href=${file.url} download="">${say("download", { bytes: bytes(file.bytes) })}</a><p class="hint">${say("the_file_has_no_scene")}</p><${Notes} of=${file} />`}</div></div></div></div></div>`;
  }
  return { View, hidden: () => (own.proof = null) };
}
