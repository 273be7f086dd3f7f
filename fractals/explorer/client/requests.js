/** Questions to the server, and the answers that belong to them. */

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

/** @typedef {(preview: import("./decode.js").Message) => void} OnPreview */

export class Requests {
  #count = 0; // ids of jobs and sequence numbers, so that no two previews have the same
  #waiting = /** @type {Table[]} */ ([]); // {answer, key, resolve, reject}
  #jobs = new Map(); // id -> {onProgress, resolve, reject, sheet: Map}
  /** @type {{seq: number, onPreview: OnPreview}|null} */ #julia = null; // {seq, onPreview} of the preview under way
  /** @type {[Asked<Sent.Julia>, OnPreview]|null} */ #wanted = null; // the next preview

  /** @param {(message: Sent) => void} send @param {() => number} frame the newest placed frame */
  constructor(send, frame) {
    this.send = send;
    this.frame = frame;
  }

  /** Send a question. @returns {Promise<Arrived>} null: a newer `pick` has replaced this one */
  ask(/** @type {Asked} */ message) {
    const sent = { ...message },
      { t } = message;
    const one = t === "bookmark" && !message.remove && !message.rename && !message.link;
    if (OF_A_FRAME.includes(t) || one) sent.frame = this.frame();
    if (t === "export" || t === "film") sent.job = ++this.#count;
    if (t === "lookup") sent.seq = ++this.#count;
    if (t === "pick")
      this.#take((/** @type {Table} */ { answer }) => answer === "picked").forEach(({ resolve }) =>
        resolve(null),
      );
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        answer: ANSWERS[t],
        key: sent.job ?? sent.seq ?? sent.frame,
        resolve,
        reject,
      });
      this.send(/** @type {Sent} */ (sent));
    });
  }

  /** Start a search, a sheet, an export or a film, or follow a film of a page before this one. */
  job(/** @type {Asked} */ message, onProgress = (/** @type {any} */ _told) => {}) {
    const id = ++this.#count;
    const done = new Promise((resolve, reject) => {
      this.#jobs.set(id, { onProgress, resolve, reject, sheet: new Map() });
      this.send(/** @type {Sent} */ ({ ...message, job: id, frame: this.frame() }));
    });
    return { id, done, cancel: () => this.#jobs.has(id) && this.send({ t: "cancel", job: id }) };
  }

  /** Ask for a preview of a Julia set; while one is drawn, only the newest wish is kept. */
  julia(/** @type {Asked<Sent.Julia>} */ where, /** @type {OnPreview} */ onPreview) {
    if (this.#julia) {
      this.#wanted = [where, onPreview];
      return;
    }
    const seq = ++this.#count;
    this.#julia = { seq, onPreview };
    this.send({ ...where, seq, frame: this.frame() });
  }

  /** Take a text message. @returns {boolean} whether it was an answer */
  text(/** @type {Table} */ message) {
    if (message.job && this.#jobs.has(message.job))
      return this.#progress(message, this.#jobs.get(message.job));
    if (message.t === "error") return this.#error(message);
    if (!Object.values(ANSWERS).includes(message.t)) return false;
    this.#answer(message.t, message.job ?? message.frame, message);
    return true;
  }

  #progress(/** @type {Table} */ message, /** @type {Table} */ job) {
    const { t } = message;
    if (t === "progress" || t === "started") job.onProgress(message);
    else if (t === "surprised") job.sheet.set(message.index, message);
    else if (t === "found" || t === "exported" || t === "done")
      this.#end(message.job).resolve(message);
    else this.#end(message.job).reject(failure(message));
    return true;
  }

  #end(/** @type {number} */ id) {
    const job = this.#jobs.get(id);
    this.#jobs.delete(id);
    return job;
  }

  #error(/** @type {Table} */ message) {
    if (message.re === "julia") {
      this.#nextJulia();
      return true;
    }
    const key = message.job ?? message.seq ?? message.frame;
    const [first] = this.#take(
      (/** @type {any} */ _, /** @type {number} */ k, /** @type {any} */ all) => {
        const belongs = (/** @type {Table} */ each) =>
          each.answer === ANSWERS[message.re] && (key === undefined || each.key === key);
        return all.findIndex(belongs) === k;
      },
    );
    first?.reject(failure(message));
    return Boolean(first);
  }

  #answer(/** @type {string} */ answer, /** @type {number} */ key, /** @type {any} */ value) {
    const belongs = (/** @type {Table} */ each) =>
      each.answer === answer && (key === undefined || each.key === key);
    const [first] = this.#take(
      (/** @type {any} */ _, /** @type {number} */ k, /** @type {any} */ all) =>
        all.findIndex(belongs) === k,
    );
    first?.resolve(value);
  }

  /** Take a table or a preview. @returns {boolean} whether somebody has asked for it */
  table(/** @type {Table} */ message) {
    if (!this.#waiting.some(({ answer, key }) => answer === "table" && key === message.frame))
      return false;
    const entries = message.data.length / 3 - 2;
    this.#answer("table", message.frame, { entries, rows: message.data });
    return true;
  }

  preview(/** @type {import("./decode.js").Message} */ message) {
    const asked = this.#julia;
    if (asked && asked.seq === message.frame) {
      this.#nextJulia();
      asked.onPreview(message);
      return;
    }
    const job = this.#jobs.get(message.frame),
      told = job?.sheet.get(message.layer);
    if (told) job.onProgress({ ...told, preview: message });
  }

  #nextJulia() {
    this.#julia = null;
    const next = this.#wanted;
    this.#wanted = null;
    if (next) this.julia(next[0], next[1]);
  }

  /** Fail all that is unanswered, because the connection is lost. */
  lost() {
    const error = failure({ message: "the connection is lost" });
    for (const { reject } of this.#take(() => true)) reject(error);
    for (const id of [...this.#jobs.keys()]) this.#end(id).reject(error);
    this.#julia = this.#wanted = null;
  }

  #take(/** @type {any} */ wanted) {
    const taken = this.#waiting.filter(wanted);
    this.#waiting = this.#waiting.filter((each) => !taken.includes(each));
    return taken;
  }
}

function failure(/** @type {Table} */ { message, cancelled = false }) {
  return Object.assign(new Error(message), { cancelled });
}
