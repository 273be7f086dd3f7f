/** Questions to the server, and the answers that belong to them. */
import { meaningOf } from "./heard.js";
import { kept } from "./state.js";
import { say } from "./words.js";

/** @type {Record<string, string>} */
const ANSWERS = {
  pick: "picked",
  fit: "fit",
  histogram: "histogram",
  link: "link",
  bookmarks: "bookmarks",
  bookmark: "bookmarks",
  film: "forecast",
  export: "forecast",
  lookup: "table",
  class: "class",
};
const OF_A_FRAME = [
  "pick",
  "fit",
  "histogram",
  "link",
  "export",
  "film",
  "find",
  "sheet",
  "surprise",
];

/** @typedef {(preview: Preview) => void} OnPreview */
/** @typedef {number|string|null|undefined} Key of a question and of its answer */
/** @typedef {{answer: string, key?: Key, resolve: (value: unknown) => void, reject: (error: Error) => void, sent: Sent, passing: boolean}} Waiting
 * `passing`: a newer question of its kind takes its place */
/** @typedef {{onProgress: (told: OfJob) => void, resolve: (value: unknown) => void, reject: (error: Error) => void,
 *   sheet: Map<number, Received.Surprised>}} Running */

export class Requests {
  #count = 2 ** 31; // ids of jobs and sequence numbers: no two previews have the same, and no table that of a frame, which counts from 1
  #waiting = /** @type {Waiting[]} */ ([]);
  #point = /** @type {Waiting|undefined} */ (undefined); // the question about a point that was sent: the server answers the newest
  #jobs = /** @type {Map<number, Running>} */ (new Map());
  /** @type {{seq: number, onPreview: OnPreview}|null} */ #julia = null; // {seq, onPreview} of the preview under way
  /** @type {[Asked<Sent.Julia>, OnPreview]|null} */ #wanted = null; // the next preview

  /** @param {{connected: boolean, placed: Received.Placed|null}} shown what the model shows @param {(message: Sent) => void} send
   * @param {() => number} frame the newest placed frame @param {(at: number[]) => number[]} here a point of the canvas in that frame */
  constructor(shown, send, frame, here) {
    this.shown = shown;
    this.send = send;
    this.frame = frame;
    this.here = here;
  }

  /** Whether anything is unanswered. */
  get waits() {
    return this.#waiting.length > 0 || this.#jobs.size > 0 || this.#julia !== null;
  }

  /** Send a question. `passing`, of a point: a newer one that is passing, too, takes its place; it is answered by null then.
   * @template {Asked} Question @param {Question} message @param {boolean} [passing] @returns {Promise<AnswerTo<Question>>} */
  ask(message, passing = false) {
    if (!this.shown.connected) return Promise.reject(unconnected());
    const sent = signed(/** @type {Asked} */ ({ ...message })),
      { t } = sent;
    if ("at" in sent && sent.t !== "moments" && sent.at) sent.at = this.here(sent.at);
    if (OF_A_FRAME.includes(t) || addsBookmark(sent)) sent.frame = this.frame();
    if (t === "export" || t === "film") sent.job = ++this.#count;
    if (t === "lookup") sent.seq = ++this.#count;
    if (passing)
      this.#take((each) => each.passing && each.answer === ANSWERS[t]).forEach(({ resolve }) =>
        resolve(null),
      );
    const key = keyOf(/** @type {Keyed} */ (sent));
    return new Promise((resolve, reject) => {
      // It is resolved by the message that answers the question.
      const answer = ANSWERS[t];
      this.#waiting.push({
        answer,
        key,
        resolve: (told) => resolve(/** @type {AnswerTo<Question>} */ (told)),
        reject,
        sent: /** @type {Sent} */ (sent),
        passing,
      });
      if (t === "pick") this.#ofPoint();
      else this.send(/** @type {Sent} */ (sent));
    });
  }

  /** Send the next question about a point. One that is not passing waits for no other kind, and those of its kind are answered
   * one after the other. */
  #ofPoint() {
    const all = this.#waiting.filter(({ answer }) => answer === ANSWERS.pick),
      next = all.find(({ passing }) => !passing) ?? all[0];
    if (next && next !== this.#point) this.send(next.sent);
    this.#point = next;
  }

  /** Start a search, a sheet, an export or a film, or follow a film of a page before this one.
   * @template {Asked & {t: keyof Ends}} Question @param {Question} message @param {(told: OfJob) => void} [onProgress]
   * @returns {Job<Question["t"]>} */
  job(message, onProgress = () => {}) {
    if (!this.shown.connected)
      return { id: 0, done: Promise.reject(unconnected()), cancel: () => false };
    const id = ++this.#count;
    const done = new Promise((resolve, reject) => {
      this.#jobs.set(id, { onProgress, resolve, reject, sheet: new Map() });
      this.send(/** @type {Sent} */ ({ ...signed(message), job: id, frame: this.frame() }));
    });
    return { id, done, cancel: () => this.#jobs.has(id) && this.send({ t: "cancel", job: id }) };
  }

  /** Ask for a preview of the Julia set of a point of the canvas; while one is drawn, only the newest wish is kept.
   * @param {{at: number[], size?: number}} of @param {OnPreview} onPreview */
  julia({ at, size = 256 }, onPreview) {
    const { connected, placed } = this.shown;
    if (connected && placed) this.#draw({ t: "julia", at: this.here(at), size }, onPreview);
  }

  /** @param {Asked<Sent.Julia>} where @param {OnPreview} onPreview */
  #draw(where, onPreview) {
    if (this.#julia) {
      this.#wanted = [where, onPreview];
      return;
    }
    const seq = ++this.#count;
    this.#julia = { seq, onPreview };
    this.send({ ...where, seq, frame: this.frame() });
  }

  /** Take a text message. @returns {boolean} whether it was an answer */
  text(/** @type {Received} */ message) {
    const number = "job" in message ? message.job : null,
      job = number && this.#jobs.get(number);
    if (number && job) return this.#progress(message, number, job);
    if (message.t === "error") return this.#error(message);
    if (!Object.values(ANSWERS).includes(message.t)) return false;
    this.#answer(message.t, keyOf(/** @type {Keyed} */ (message)), message);
    return true;
  }

  #progress(
    /** @type {Received} */ message,
    /** @type {number} */ number,
    /** @type {Running} */ job,
  ) {
    const { t } = message;
    if (t === "progress" || t === "started") job.onProgress(message);
    else if (t === "surprised") job.sheet.set(message.index, message);
    else if (t === "found" || t === "exported" || t === "done") this.#end(number)?.resolve(message);
    else if (t === "error" && message.re === "cancel")
      // It has ended, and its last message waits for pictures that are being decoded.
      this.#end(number)?.reject(failure({ ...message, cancelled: true }));
    else if (t === "failed" || t === "error") this.#end(number)?.reject(failure(message));
    return true;
  }

  #end(/** @type {number} */ id) {
    const job = this.#jobs.get(id);
    this.#jobs.delete(id);
    return job;
  }

  #error(/** @type {Received.ErrorMessage} */ message) {
    if (message.re === "julia") {
      this.#nextJulia();
      return true;
    }
    if (message.re === "cancel") return true; // the job has ended meanwhile
    const point = message.re === "pick" && this.#point, // the server tells no place of it
      first =
        point && this.#waiting.includes(point)
          ? point
          : this.#first(ANSWERS[message.re ?? ""], keyOf(/** @type {Keyed} */ (message)));
    this.#take((each) => each === first);
    first?.reject(failure(message));
    if (message.re === "pick") this.#ofPoint();
    return Boolean(first);
  }

  /** @param {string} answer @param {Key} key @param {unknown} value */
  #answer(answer, key, value) {
    this.#first(answer, key)?.resolve(value);
    if (answer === ANSWERS.pick) this.#ofPoint();
  }

  /** Take the first question that waits for an answer. @param {string|undefined} answer @param {Key} [key] */
  #first(answer, key) {
    const found = this.#waiting.find(
      (each) => each.answer === answer && (key === undefined || each.key === key),
    );
    this.#take((each) => each === found);
    return found;
  }

  /** Take a table or a preview. @returns {boolean} whether somebody has asked for it */
  table(/** @type {import("./decode.js").Rows} */ message) {
    if (!this.#waiting.some(({ answer, key }) => answer === "table" && key === message.frame))
      return false;
    const entries = message.data.length / 3 - 2;
    this.#answer("table", message.frame, { entries, rows: message.data });
    return true;
  }

  preview(/** @type {Preview} */ message) {
    const asked = this.#julia;
    if (asked && asked.seq === message.frame) {
      this.#nextJulia();
      asked.onPreview(message);
      return;
    }
    const job = this.#jobs.get(message.frame),
      told = job?.sheet.get(message.layer);
    if (told) job?.onProgress({ ...told, preview: message });
  }

  #nextJulia() {
    this.#julia = null;
    const next = this.#wanted;
    this.#wanted = null;
    if (next) this.#draw(next[0], next[1]);
  }

  /** Fail all that is unanswered, because the connection is lost. */
  lost() {
    const error = unconnected();
    for (const { reject } of this.#take(() => true)) reject(error);
    for (const id of [...this.#jobs.keys()]) this.#end(id)?.reject(error);
    this.#julia = this.#wanted = null;
    this.#point = undefined;
  }

  #take(/** @type {(each: Waiting) => boolean} */ wanted) {
    const taken = this.#waiting.filter(wanted);
    this.#waiting = this.#waiting.filter((each) => !taken.includes(each));
    return taken;
  }
}

/** @param {Pick<Received.Failed, "message"|"code"|"key"|"limit"|"cancelled">} told */
const failure = (told) =>
  Object.assign(new Error(meaningOf(told)), { cancelled: told.cancelled ?? false });

const unconnected = () => failure({ message: say("the_connection_is_lost") });

/** @typedef {{t: string, job?: number|null, seq?: number|null, frame?: number|null, at?: number[]|null}} Keyed */
/** Return what a question and its answer have in common; of a point its place: an older one may be answered after a newer one is asked for.
 * @param {Keyed} message @returns {Key} */
const keyOf = ({ t, job, seq, frame, at }) =>
  ["pick", "picked"].includes(t) ? `${frame} ${at}` : (job ?? seq ?? frame);

/** Tell whether what is shown becomes a bookmark. @param {Asked} message */
const addsBookmark = (message) =>
  message.t === "bookmark" && !message.remove && !message.rename && !message.link;

/** Return a message with the user's name, if what it makes is kept.
 * @template {Asked} Question @param {Question} message @returns {Question} */
function signed(message) {
  const author = kept.get("author", "");
  if (!author) return message;
  const keeps = ["export", "film", "link"].includes(message.t) || addsBookmark(message);
  return keeps ? { ...message, author } : message;
}
