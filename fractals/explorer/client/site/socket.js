/** Answers of this page in place of a server's: what looks like a WebSocket, with an engine at its other end. */
import { Engine } from "./engine.js";

export class Local {
  readyState = /** @type {number} */ (WebSocket.CONNECTING);
  binaryType = "arraybuffer";
  /** @type {(() => void)|null} */ onopen = null;
  /** @type {((event: {data: string|ArrayBuffer}) => void)|null} */ onmessage = null;
  /** @type {((event: {code: number, reason: string}) => void)|null} */ onclose = null;
  /** @type {Engine|null} */ #engine = null;

  constructor() {
    Engine.open((data) => {
      if (this.readyState === WebSocket.OPEN) this.onmessage?.({ data });
    }).then(
      (engine) => {
        if (this.readyState !== WebSocket.CONNECTING) return;
        this.#engine = engine;
        this.readyState = WebSocket.OPEN;
        this.onopen?.();
      },
      (error) => this.#end(error.message),
    );
  }

  send(/** @type {string} */ text) {
    this.#engine?.receive(JSON.parse(text));
  }

  close() {
    this.#engine?.end();
    this.readyState = WebSocket.CLOSED;
  }

  #end(/** @type {string} */ reason) {
    if (this.readyState === WebSocket.CLOSED) return;
    this.readyState = WebSocket.CLOSED;
    this.onclose?.({ code: 1000, reason });
  }
}
