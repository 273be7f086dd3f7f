/** Films on the spot: from the whole set, from here on, or through places in an order that is dragged. */
import { inWords } from "../heard.js";
import { effect, html, untracked, useSignalEffect } from "../html.js";
import { answered, transport } from "../net.js";
import { kept, observe } from "../state.js";
import { Slider } from "../slider.js";
import {
  bytes,
  Button,
  download,
  duration,
  FileButton,
  Icon,
  Progress,
  Section,
  Segments,
  Select,
  Still,
  TextField,
  Thumbnail,
  Toggle,
} from "../ui.js";
import { say } from "../words.js";
import { numberField } from "../written.js";
import { decimal } from "./scale.js";
import { Author, byWorkers, KEPT, Notes } from "./share.js";
import { Timeline } from "./timeline.js";
import { choicesOf, tracksOf } from "./tracks.js";

const REST_MS = 300; // after the last change, before the server is asked
const SETTLED_MS = 3000; // of frames, before the time left is told
const KINDS = [
  ["dive", say("whole_set")],
  ["onward", say("from_here")],
  ["places", say("places")],
];
/** @type {Record<string, string>} */
const HINTS = {
  dive: say("begins_with_the_whole_set"),
  onward: say("begins_with_what_is_shown"),
  places: say("goes_through_these_places_in"),
};
/** @type {Record<string, string[]>} */
const ENDS = {
  dive: [say("the_whole_set"), say("what_is_shown")],
  onward: [say("what_is_shown"), say("the_end")],
};
/** @type {[string, number, number][]} */
const SIZES = [
  [say("small"), 640, 360],
  ["HD", 1280, 720],
  [say("full_hd"), 1920, 1080],
  ["4K", 3840, 2160],
  [say("square"), 1080, 1080],
  [say("phone"), 1080, 1920],
];
const FORMATS = [
  ["mp4", "MP4"],
  ["webm", "WebM"],
  ["webp", "WebP"],
];
const RATES = [
  ["24", "24"],
  ["30", "30"],
  ["60", "60"],
];
const SOUNDS = ".aac,.flac,.m4a,.mp3,.oga,.ogg,.opus,.wav";
const PIXELS = numberField({ such: "1280", least: 16, most: 4096, whole: true, large: true }); // of a side
const SMALL = 128; // pixels of the width of a place's picture
const STORED = "fractals.film"; // what a page that is loaded again goes on with
const MOST = 60; // places

/** Return what a page before this one has left.
 * @returns {{name?: string, preview?: boolean, places?: FilmPlace[], times?: number[]|null, tracks?: import("./tracks.js").Track[], ease?: EaseName}} */
function stored() {
  try {
    return JSON.parse(sessionStorage.getItem(STORED) ?? "{}");
  } catch {
    return {};
  }
}

/** Open the panel again in a page that is loaded again, if a film is being made. */
export function resumeFilm(/** @type {Context} */ { open }) {
  if (stored().name) open("film", { focus: false });
}

export function filmPanel(/** @type {Context} */ { explorer, ui, open, notify }) {
  if (explorer.welcome?.export === false)
    return {
      View: () => html`<p class="hint">${say("this_server_makes_no_films")}</p>`,
    };
  const {
    name = "",
    preview = false,
    places = [],
    times = null,
    tracks = [],
    ease = "soft",
  } = stored();
  const own = observe({
    what: places.length > 1 ? "places" : "dive",
    factor: 1000,
    places,
    backwards: false,
    seconds: /** @type {number|null} */ (null),
    times: /** @type {number[]|null} */ (times),
    tracks: /** @type {import("./tracks.js").Track[]} */ (tracks),
    ease,
    ready: false,
    known: /** @type {number[]} */ ([]),
    depths: /** @type {number[]} */ ([]),
    size: [1280, 720],
    fps: "30",
    format: "mp4",
    keep: false,
    sound: /** @type {{id: string, name: string}|null} */ (null),
    forecast: "",
    length: 10,
    leftOut: /** @type {number[]} */ ([]),
    told: /** @type {Told|null} */ (null),
    film: /** @type {(Received.Exported & {preview: boolean})|null} */ (null),
    name,
    preview,
  });
  const lacking = transport.lacks("films");
  let job = /** @type {Job|null} */ (null),
    count = Math.max(0, ...places.map(({ id }) => id)); // of places; some may have been removed
  effect(() => {
    const kept = JSON.stringify({
      name: own.name,
      preview: own.preview,
      places: own.places,
      times: own.times,
      tracks: own.tracks,
      ease: own.ease,
    });
    try {
      sessionStorage.setItem(STORED, kept);
    } catch {
      sessionStorage.removeItem(STORED); // too much, or no storage
    }
  });

  /** What the film shows. `times`: of all places, also of those that are left out. */
  const film = () => ({
    tracks: /** @type {Sent.FilmMessage["tracks"]} */ (
      own.tracks.length
        ? tracksOf(
            own.tracks.filter(({ name }) => choices().some((each) => each.name === name)),
            own.length,
          )
        : {}
    ),
    what: /** @type {Sent.FilmMessage["what"]} */ (own.what),
    octaves: Math.log2(own.factor),
    places: own.what === "places" ? own.places.map(({ link }) => link) : [],
    eases: own.what === "places" ? own.places.map(({ ease = "soft" }) => ease) : [own.ease],
    backwards: own.backwards,
    seconds: own.seconds,
    times: own.what === "places" ? own.times : null,
    fps: Number(own.fps),
    size: own.size,
  });
  const choices = () => choicesOf(explorer.scene, explorer.catalog);
  /** @returns {Asked<Sent.FilmMessage>} */
  const message = () => ({
    t: "film",
    ...film(),
    format: /** @type {Sent.FilmMessage["format"]} */ (own.format),
    sound: own.format === "webp" ? "" : (own.sound?.id ?? ""),
  });

  async function estimate(/** @type {Asked<Sent.FilmMessage>} */ asked) {
    const told = await explorer
      .request({ ...asked, forecast: true })
      .catch((/** @type {Error} */ error) => error);
    if (JSON.stringify(asked) !== JSON.stringify(message())) return; // meanwhile something else is wanted
    if (told instanceof Error)
      return void Object.assign(own, {
        forecast: told.message,
        leftOut: [],
        known: [],
        ready: false,
      });
    const { seconds, frames, length, left_out: leftOut, times: known, depths, workers } = told;
    Object.assign(own, {
      length,
      leftOut,
      known,
      depths,
      ready: true,
      forecast: say("frames_in_about_a_file", {
        frames: frames ?? 0,
        duration: duration(seconds),
        bytes: bytes(told.bytes ?? 0),
        byWorkers: byWorkers(workers),
      }),
    });
  }

  /** Follow the messages of a film to its end. @param {Asked<Sent.FilmMessage|Sent.Follow>} asked */
  async function follow(asked) {
    let begun = /** @type {{done: number, now: number}|null} */ (null);
    Object.assign(own, {
      told: { share: null, text: own.name ? say("looking_for_the_film") : say("starting") },
    });
    const mine = (job = explorer.job(asked, (heard) => {
      if (heard.t === "started") {
        own.name = heard.name;
        own.told = { share: null, text: say("preparing") };
      }
      if (heard.t !== "progress") return;
      const { done, of } = heard;
      const now = performance.now();
      const first = (begun ??= { done, now });
      const left =
        now - first.now > SETTLED_MS && done > first.done
          ? say("about_left", {
              duration: duration(((of - done) * (now - first.now)) / 1000 / (done - first.done)),
            })
          : "";
      own.told = { share: done / of, text: say("frame_of", { done, of, left }) };
    }));
    try {
      own.film = { ...(await mine.done), preview: own.preview };
      own.name = "";
      if (ui.open !== "film")
        notify(say("the_film_is_ready"), "info", { action: [say("show_it"), () => open("film")] });
    } catch (error) {
      if (explorer.connected) own.name = ""; // else it is looked for again
      if (error.cancelled) notify(say("the_film_was_cancelled"));
      else if (explorer.connected) notify(error.message, "error");
    } finally {
      job = null;
      own.told = null;
    }
  }
  const make = (/** @type {boolean} */ preview) => {
    if (job) return;
    Object.assign(own, { film: null, preview });
    follow({ ...message(), preview, keep: own.keep });
  };
  effect(() => {
    // after a lost connection, or in a page that is loaded again
    if (explorer.connected && own.name)
      untracked(() => job || follow({ t: "follow", name: own.name }));
  });

  const change = (/** @type {FilmPlace[]} */ places) =>
    Object.assign(own, { places: places.slice(0, MOST), seconds: null, times: null, known: [] });
  /** The keys of the timeline: places that are not left out, or both ends. */
  const keys = () => {
    if (own.what !== "places")
      return ENDS[own.what].map((title, k) => ({
        title,
        index: k,
        at: k * own.length,
        ease: own.ease,
      }));
    const shown = own.places
      .map((place, index) => ({ ...place, index }))
      .filter(({ index }) => !own.leftOut.includes(index));
    return shown.length === own.known.length
      ? shown.map(({ title, index, ease }, k) => ({
          title,
          index,
          ease,
          at: own.times ? own.times[index] - own.times[shown[0].index] : own.known[k],
        }))
      : [];
  };
  const retime = (/** @type {number[]} */ times) => {
    if (own.what !== "places") return lengthen(times[1]);
    const at = new Map(keys().map(({ index }, k) => [index, times[k]]));
    Object.assign(own, {
      seconds: null,
      times: own.places.map((_, index) => at.get(index) ?? 0),
    });
  };
  const easeTo = (/** @type {number} */ which, /** @type {EaseName} */ ease) => {
    const { index } = keys()[which];
    if (own.what === "places") own.places = own.places.with(index, { ...own.places[index], ease });
    else own.ease = ease;
  };
  const lengthen = (/** @type {number} */ wish) => {
    const seconds = Math.max(0.2, Math.min(1800, wish)),
      end = keys().at(-1)?.at;
    if (own.what === "places" && own.times && end)
      own.times = own.times.map((time) => Math.round((100 * time * seconds) / end) / 100);
    else own.seconds = seconds;
  };
  async function addThis() {
    const { scene, placed } = explorer, // whose link is asked for: the user may move on until it comes
      place = {
        id: ++count,
        title: scene.title || say("zoom_at", { zoom: decimal(placed.zoom) }),
        still: explorer.still(SMALL).toDataURL("image/jpeg", 0.8),
      };
    try {
      const { link } = await explorer.request({ t: "link" });
      change([...own.places, { ...place, link }]);
    } catch (error) {
      notify(error.message, "error");
    }
  }
  async function addBookmarks() {
    try {
      const { items } = await explorer.request({ t: "bookmarks" });
      if (!items.length) notify(say("there_are_no_bookmarks_yet"));
      change([
        ...own.places,
        ...items.reverse().map(({ title, link, thumbnail }) => ({
          id: ++count,
          title: title || say("untitled"),
          link,
          thumbnail,
        })),
      ]);
    } catch (error) {
      notify(error.message, "error");
    }
  }
  async function hear(/** @type {File} */ file) {
    try {
      const answer = await fetch(`/sound?name=${encodeURIComponent(file.name)}`, {
        method: "POST",
        body: file,
      });
      own.sound = { id: (await answered(answer)).sound, name: file.name };
    } catch (error) {
      notify(
        error instanceof TypeError
          ? say("was_not_sent_the_server", { name: file.name })
          : say("a_file_says", { name: file.name, line: inWords(error.message) }),
        "error",
      );
    }
  }

  const Side = (/** @type {{name: string, index: number}} */ { name, index }) =>
    html`<${TextField} inputmode="numeric" aria-label=${name} value=${own.size[index]} read=${PIXELS} put=${(
      /** @type {number} */ side,
    ) => {
      own.size = own.size.with(index, 2 * Math.round(side / 2));
    }} />`;

  function Places() {
    const move = (/** @type {number} */ from, /** @type {number} */ to) => {
      if (to < 0 || to >= own.places.length || to === from) return from;
      change(own.places.toSpliced(from, 1).toSpliced(to, 0, own.places[from]));
      return to;
    };
    return html`<div class="stack">
      <ol class="places" aria-label=${say("places_of_the_film")}>${own.places.map(
        (
          place,
          index,
        ) => html`<li key=${place.id} class="line${own.leftOut.includes(index) ? " left-out" : ""}">
        <${Handle} title=${place.title} index=${index} move=${move} />
        ${place.still ? html`<${Still} src=${place.still} />` : html`<${Thumbnail} src=${place.thumbnail ?? ""} />`}
        <span class="grow">${place.title}${own.leftOut.includes(index) && html`<span class="faint"> ${say("of_another_formula_left_out")}</span>`}</span>
        <${Button} label=${say("remove_name", { name: place.title })} symbol="close" bare kind="quiet" onClick=${() => change(own.places.toSpliced(index, 1))} /></li>`,
      )}</ol>
      ${own.places.length < 2 && html`<p class="hint">${say("go_to_a_place_and")}</p>`}
      <div class="line"><${Button} label=${say("add_this_place")} symbol="plus" kind="grow" onClick=${addThis} />
        ${explorer.welcome?.bookmarks && html`<${Button} label=${say("add_bookmarks")} kind="quiet" onClick=${addBookmarks} />`}</div></div>`;
  }

  function Made() {
    const { film } = own;
    if (!film) return null;
    const moving = film.url.endsWith(".webp")
      ? html`<img class="film" src=${film.url} alt=${say("the_film")} ref=${seen} />`
      : html`<video class="film" src=${film.url} controls loop muted autoplay playsinline aria-label=${say("the_film")} ref=${seen}></video>`;
    return html`${moving}
      ${film.flashes && html`<p class="hint strong">${say("a_part_flashes_more_than")}</p>`}
      <${Notes} of=${film} />
      ${
        film.preview
          ? html`<p class="hint">${say("a_preview_a_quarter_of")}</p>`
          : html`<a class="button primary wide-button" href=${film.url} download="" ref=${focused}>${say("download", { bytes: bytes(film.bytes) })}</a>
          <p class="hint">${say("frames_made_in_the_server", { frames: film.frames ?? 0, duration: duration(film.seconds) })}</p>
          <${Button} label=${say("save_film_toml")} kind="quiet" onClick=${() => download("film.toml", film.toml ?? "")} />`
      }`;
  }

  function View() {
    useSignalEffect(() => {
      const asked = message();
      if (own.told || !explorer.placed || !explorer.scene) return;
      const waiting = setTimeout(() => estimate(asked), REST_MS);
      return () => clearTimeout(waiting);
    });
    const busy = Boolean(own.told);
    return html`<div class="stack">
      <${Segments} label=${say("from_where_to_where")} choices=${KINDS} value=${own.what} put=${(what) => Object.assign(own, { what, seconds: null, leftOut: [], known: [], ready: false })} />
      <p class="hint">${HINTS[own.what]}</p>
      ${own.what === "onward" && html`<${Slider} label=${say("zoom_in")} hint=${say("times")} value=${own.factor} least=${2} most=${1e12} log put=${(/** @type {number} */ factor) => Object.assign(own, { factor: Math.max(1.01, Math.min(1e300, factor)), seconds: null })} />`}
      ${own.what === "places" && html`<${Places} />`}
      ${
        own.ready &&
        html`<${Timeline} explorer=${explorer} film=${film()} length=${own.length} backwards=${own.backwards} keys=${keys()} depths=${own.depths} put=${retime} ease=${easeTo} tracks=${own.tracks} choices=${choices()} putTracks=${(
          tracks,
        ) => {
          own.tracks = tracks;
        }} />`
      }
      <${Slider} label=${say("seconds")} value=${own.seconds ?? own.length} least=${1} most=${120} log put=${lengthen} />
      <div class="chips" role="group" aria-label=${say("sizes_of_the_film")}>${SIZES.map(
        ([title, w, h]) => html`<${Button} key=${title} label=${title} kind="chip-button"
        aria-pressed=${String(own.size[0] === w && own.size[1] === h)} onClick=${() => {
          own.size = [w, h];
        }} />`,
      )}</div>
      <${Section} title=${say("more")} name="film" open=${false}>
        <div class="line"><${Side} name=${say("width_of_the_film_in_pixels")} index=${0} /><span class="faint">×</span><${Side} name=${say("height_of_the_film_in_pixels")} index=${1} /><span class="faint size-unit">${say("pixels")}</span></div>
        <${Select} label=${say("frames_a_second")} choices=${RATES} value=${own.fps} put=${(
          /** @type {string} */ fps,
        ) => {
          own.fps = fps;
        }} />
        <div class="row"><span class="row-head">${say("format")}</span><${Segments} label=${say("format_of_the_film")} choices=${FORMATS} value=${own.format} put=${(
          /** @type {string} */ format,
        ) => {
          own.format = format;
        }} />
          ${own.format === "webp" && html`<p class="hint">${say("repeats_for_ever_has_no")}</p>`}</div>
        ${
          own.format !== "webp" &&
          !lacking &&
          html`<div class="line">${
            own.sound
              ? html`<span class="grow">${own.sound.name}</span><${Button} label=${say("remove_the_sound")} symbol="close" bare kind="quiet" onClick=${() => {
                  own.sound = null;
                }} />`
              : html`<span class="grow">${say("sound")}</span><${FileButton} label=${say("choose_a_file")} accept=${SOUNDS} take=${hear} />`
          }</div>`
        }
        <${Toggle} label=${say("backwards")} about=${say("the_film_runs_from_its")} value=${own.backwards} put=${(
          /** @type {boolean} */ backwards,
        ) => {
          own.backwards = backwards;
        }} />
        <${Toggle} label=${say("go_on_when_this_page")} about=${KEPT} value=${own.keep} put=${(
          /** @type {boolean} */ keep,
        ) => {
          own.keep = keep;
        }} />
        ${!kept.get("author", "") && html`<${Author} />`}<//>
      <p class="forecast" role="status">${lacking || own.forecast}</p>
      <div class="line actions"><${Button} label=${say("preview")} disabled=${busy || Boolean(lacking)} onClick=${() => make(true)} />
        <${Button} label=${say("make_the_film")} symbol="film" kind=${own.film && !own.film.preview ? "grow" : "primary grow"} disabled=${busy || Boolean(lacking)} onClick=${() => make(false)} /></div>
      ${busy && html`<div ref=${seen}><${Progress} told=${own.told} cancel=${() => job?.cancel()} /></div>`}
      <div class="stack" aria-live="polite"><${Made} /></div></div>`;
  }
  return {
    View,
    add: () => {
      own.what = "places";
      return addBookmarks();
    },
  };
}

const seen = (/** @type {HTMLElement} */ node) => node?.scrollIntoView({ block: "nearest" });
const focused = (/** @type {HTMLElement} */ node) => node?.focus({ preventScroll: true });

/** What a place is dragged by, also with the arrow keys. */
function Handle(
  /** @type {{title: string, index: number, move: (from: number, to: number) => number}} */ {
    title,
    index,
    move,
  },
) {
  const start = (/** @type {PointerEvent} */ { currentTarget, pointerId }) => {
    const list = /** @type {Element} */ (currentTarget).closest("ol"),
      rows = () => /** @type {HTMLElement[]} */ ([...(list?.children ?? [])]),
      middle = (/** @type {HTMLElement} */ row) =>
        row.getBoundingClientRect().top + row.offsetHeight / 2;
    let at = index;
    const drag = (/** @type {PointerEvent} */ event) => {
      if (event.pointerId === pointerId)
        at = move(at, rows().filter((row, k) => k !== at && middle(row) < event.clientY).length);
    };
    const end = () => {
      // on the window: rows that change places lose the pointer
      removeEventListener("pointermove", drag);
      for (const name of ["pointerup", "pointercancel"]) removeEventListener(name, end);
    };
    addEventListener("pointermove", drag);
    for (const name of ["pointerup", "pointercancel"]) addEventListener(name, end);
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    const step = /** @type {Record<string, number>} */ ({ ArrowUp: -1, ArrowDown: 1 })[event.key],
      button = /** @type {HTMLElement} */ (event.currentTarget);
    if (!step) return;
    event.preventDefault();
    move(index, index + step);
    requestAnimationFrame(() => button.focus());
  };
  return html`<button type="button" class="bare quiet handle" aria-label=${say("move_name_by", { name: title })} title=${say("drag")} onKeyDown=${key} onPointerDown=${start}><${Icon} name="grip" /></button>`;
}
