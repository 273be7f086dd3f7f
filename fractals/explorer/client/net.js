/** The connection: messages out, at the rate that the server accepts; messages in, decoded. */
import { inflated, parse, raw } from "./decode.js";
import { meaningOf } from "./heard.js";
import { say } from "./words.js";

const RATE = 36,
  BURST = 100; // messages a second, and at once: the server accepts 40 and 120
const WAITS = [500, 1000, 2000, 4000, 8000]; // ms until another try
const SILENT = 10_000; // ms until a worker that was just made is given up: its module may wait on a dead line
const REFUSED = 4000; // ms until no answer is one: a stopped server would keep the page from trying again
const OPENED = 10_000; // ms until a server has greeted, or the connection is given up
const LARGE = 2 ** 17; // bytes of a message that a worker decodes in any case: the page goes on with its frames
const NO_COOKIE = 4401,
  OPEN_TWICE = 4409,
  NO_ROOM = 1013,
  NO_REASON = 1006,
  TOO_MUCH = 4429;

/** How a connection is opened, and a file sent; a page without a server has its own ways (`site/start.js`). */
export const transport = {
  /** Return why a page can't do something, in a line; "": it can. */
  lacks: (/** @type {"searches"|"surprises"|"films"|"posters"|"other_files"|"larger"} */ _what) =>
    "",
  far: true, // whether a line leads to a server: it may be dead
  most: 32_768, // pixels of a side of a file
  open: (/** @type {string} */ url) => new WebSocket(url),
  /** @param {File} file @param {string} entry @returns {Promise<Received.Uploaded>} */
  async upload(file, entry) {
    const answer = await fetch(`/upload?${new URLSearchParams({ name: file.name, entry })}`, {
      method: "POST",
      body: file,
    });
    return answered(answer);
  },
};

/** Return what a server answers to a file; a refusal is an error. @param {Response} answer */
export async function answered(answer) {
  const told = await answer.json().catch(() => ({})), // guests of a class get a line
    { status } = answer;
  const why =
    status === 403 ? say("this_server_takes_no_files") : say("the_server_answered", { status });
  if (!answer.ok) throw new Error(told.code ? meaningOf(told) : (told.error ?? why));
  return told;
}

export class Connection {
  /** @type {WebSocket|null} */ #socket = null;
  #tries = 0;
  #timer = 0;
  #opening = 0;
  #room = BURST;
  #filled = performance.now();
  #waiting = /** @type {string[]} */ ([]);
  /** @type {Worker|null} */ #worker = null;
  #decoding = new Map();
  #beside = true; // whether a worker decodes
  #count = 0;
  #heard = 0; // time of the newest message
  #order = Promise.resolve();
  #busy = 0;

  /**
   * @param {string} url
   * @param {{hello: () => Sent.Hello, text: (message: Received) => void,
   *   wanted: (message: import("./decode.js").Message) => boolean,
   *   binary: (message: import("./decode.js").Message) => void,
   *   image: (message: import("./decode.js").Message) => boolean,
   *   lost: (line: string) => void}} on `wanted`: false drops a message before it is decoded;
   * `image`: whether the worker makes an image of it
   * @param {AbortSignal} ended ends the connection for good
   */
  constructor(url, on, ended) {
    this.url = url;
    this.on = on;
    this.ended = ended;
    document.addEventListener("visibilitychange", () => this.#retry(), { signal: ended });
    addEventListener("online", () => this.#retry(), { signal: ended });
    ended.addEventListener("abort", () => this.#end());
  }

  #end() {
    const socket = this.#socket;
    this.#socket = null; // its end is no lost connection
    clearTimeout(this.#timer);
    clearTimeout(this.#opening);
    socket?.close();
    this.#worker?.terminate();
  }

  get open() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Whether nothing has come for some time. @param {number} ms */
  isSilent(ms) {
    return performance.now() - this.#heard >= ms;
  }

  /** Connect again, because nothing comes from this connection any more. */
  renew() {
    if (this.#socket && this.open) this.#giveUp(this.#socket);
  }

  #giveUp(/** @type {WebSocket} */ socket) {
    this.#socket = null; // a dead line would tell of its end after minutes
    socket.close();
    this.#closed(NO_REASON, say("the_server_does_not_answer"));
  }

  connect() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    const socket = (this.#socket = transport.open(this.url));
    socket.binaryType = "arraybuffer";
    const late = () => socket === this.#socket && this.#giveUp(socket);
    if (transport.far) this.#opening = setTimeout(late, OPENED);
    socket.onopen = () => {
      this.#room = BURST;
      this.send(this.on.hello());
    };
    socket.onmessage = ({ data }) => {
      if (socket !== this.#socket) return;
      this.#heard = performance.now();
      typeof data === "string" ? this.#text(data) : this.#binary(data);
    };
    socket.onclose = ({ code, reason }) => {
      if (socket === this.#socket) this.#closed(code, reason);
    };
  }

  /** Send a message as soon as the rate allows it. */
  send(/** @type {Sent} */ message) {
    if (!this.open) return;
    this.#waiting.push(JSON.stringify(message));
    this.#flush();
  }

  #flush() {
    const now = performance.now();
    this.#room = Math.min(BURST, this.#room + ((now - this.#filled) * RATE) / 1000);
    this.#filled = now;
    while (this.#waiting.length && this.#room >= 1 && this.open) {
      this.#room--;
      this.#socket?.send(this.#waiting.shift() ?? "");
    }
    if (this.#waiting.length) setTimeout(() => this.#flush(), 1000 / RATE);
  }

  #text(/** @type {string} */ data) {
    const message = /** @type {Received} */ (JSON.parse(data));
    if (message.t === "welcome") {
      this.#tries = 0;
      clearTimeout(this.#opening);
    }
    // These end what binary messages began, so they wait for those that are being decoded.
    const last = ["drawn", "surprised", "done"].includes(message.t);
    if (last && this.#busy) this.#order = this.#order.then(() => this.on.text(message));
    else this.on.text(message);
  }

  #binary(/** @type {ArrayBuffer} */ buffer) {
    const message = parse(buffer);
    if (!this.on.wanted(message)) return;
    if (message.format === 0 && buffer.byteLength < LARGE && !this.#busy) {
      message.data = raw(message, buffer);
      this.on.binary(message);
      return;
    }
    this.#busy++;
    const decoded = this.#decoded(message, buffer);
    this.#order = this.#order
      .then(() => decoded)
      .then((data) => {
        message.data = data;
        if (this.on.wanted(message)) this.on.binary(message);
      })
      .catch((error) => console.error(error))
      .finally(() => {
        this.#busy--;
      });
  }

  #decoded(
    /** @type {import("./decode.js").Message} */ message,
    /** @type {ArrayBuffer} */ buffer,
  ) {
    if (!message.format && (!this.#beside || buffer.byteLength < LARGE))
      return raw(message, buffer);
    if (!this.#beside) return inflated(message, buffer);
    let worker = this.#worker;
    if (!worker) {
      worker = this.#worker = new Worker(new URL("./decode-worker.js", import.meta.url), {
        type: "module",
      });
      worker.onmessage = ({ data: { id, data, error } }) => {
        clearTimeout(silent);
        const [resolve, reject] = this.#decoding.get(id);
        this.#decoding.delete(id);
        error ? reject(new Error(error)) : resolve(data);
      };
      const failed = () => {
        // its module was not loaded: what waits would wait for ever
        clearTimeout(silent);
        for (const [, reject] of this.#decoding.values())
          reject(new Error("the worker has failed"));
        this.#decoding.clear();
        worker?.terminate();
        this.#worker = null;
        this.#beside = false;
        this.renew();
      };
      const silent = setTimeout(failed, SILENT);
      worker.onerror = failed;
    }
    const id = ++this.#count;
    return new Promise((resolve, reject) => {
      this.#decoding.set(id, [resolve, reject]);
      worker.postMessage({ id, message, buffer, image: this.on.image(message) }, [buffer]);
    });
  }

  async #closed(/** @type {number} */ code, /** @type {string} */ reason) {
    this.#socket = null;
    clearTimeout(this.#opening);
    this.#waiting = [];
    this.#timer = -1;
    if (code === NO_REASON && this.#tries) code = await refusal();
    if (this.#socket || this.ended.aborted) return; // meanwhile the page has connected again, or ended for good
    const line =
      code === NO_COOKIE
        ? say("the_server_does_not_know")
        : code === NO_ROOM
          ? say("the_server_is_full_this")
          : code === OPEN_TWICE
            ? say("this_class_is_open_twice")
            : code === TOO_MUCH
              ? say("the_server_could_not_keep")
              : reason || say("the_connection_is_lost_this");
    this.on.lost(line);
    this.#timer = setTimeout(
      () => {
        this.#timer = 0;
        this.#retry();
      },
      WAITS[Math.min(this.#tries++, WAITS.length - 1)],
    );
  }

  /** Try again, unless the page is hidden or already tries. */
  #retry() {
    if (!this.#socket && !document.hidden && (!this.#timer || navigator.onLine)) this.connect();
  }
}

/** Return why no connection is made: a browser does not tell a page the status of a refused WebSocket. */
async function refusal() {
  const signal = AbortSignal.timeout(REFUSED);
  const status = await fetch("/client/main.js", { method: "HEAD", cache: "no-store", signal }).then(
    (answer) => answer.status,
    () => 0,
  );
  return status === 401 ? NO_COOKIE : NO_REASON;
}
