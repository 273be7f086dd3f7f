/**
 * Julia sets: a preview under the pointer while J is held, a click goes in, Escape comes back. Where
 * there are no keys, a button starts previews of the points that a finger touches.
 */
import { html } from "../html.js";
import { canvasOf } from "../picture.js";
import { observe } from "../state.js";
import { Button, Drawn } from "../ui.js";
import { say } from "../words.js";

const SIZE = 256; // of the preview, in pixels

export function juliaTool(
  /** @type {Pick<Context, "explorer"|"canvas"|"ui">} */ { explorer, canvas, ui },
) {
  // `mode`: "", "held" by a key, or "touched"; `map`: the scene that the Julia set was entered from
  const own = observe({
    mode: "",
    picture: /** @type {HTMLCanvasElement|null} */ (null),
    place: {},
    map: /** @type {Scene|null} */ (null),
  });
  let pointer = /** @type {number[]|null} */ (null); // device pixels
  let finger = /** @type {number|null} */ (null); // the id of the touch that is down

  const show = () => {
    if (!own.mode || !pointer || explorer.placed?.julia || !explorer.placed?.values) return;
    const at = pointer.map((value) => Math.round(value * 16));
    if (ui.second?.show(at, "gesture preview")) return;
    explorer.julia({ at, size: SIZE }, (preview) => {
      if (own.mode) own.picture = canvasOf(preview);
    });
    // Where the point is in the window: above an open sheet the canvas is moved.
    const box = canvas.getBoundingClientRect(),
      ratio = canvas.width / canvas.clientWidth || 1;
    const x = box.left + pointer[0] / ratio,
      y = box.top + pointer[1] / ratio;
    // A preview under a finger would be hidden, and the end of the touch would go in.
    const away = y > canvas.clientHeight / 2 ? 80 : canvas.clientHeight - SIZE - 90;
    const top =
      own.mode === "touched" ? away : Math.max(16, Math.min(y - 90, canvas.clientHeight - SIZE));
    own.place = {
      left: `${Math.min(x + 24, canvas.clientWidth - SIZE / 1.4 - 24)}px`,
      top: `${top}px`,
    };
  };
  const start = (mode = "held") => {
    if (own.mode) return;
    // Without a preview there is no button that ends it, and touches move nothing.
    if (mode === "touched" && !explorer.connected)
      return explorer.tell(say("the_connection_is_lost"), "error");
    own.mode = mode;
    // The click on the button that starts it is no point of the picture.
    if (mode === "touched" || !pointer) pointer = [canvas.width / 2, canvas.height / 2];
    show();
  };
  const stop = () => Object.assign(own, { mode: "", picture: null });
  explorer.addEventListener("pointer", ({ detail }) => {
    pointer = detail ? [detail.x, detail.y] : null;
    show();
  });
  const middle = () => [8 * canvas.width, 8 * canvas.height];
  /** Go into the Julia set of a point, in sixteenths of a pixel: by default the pointer's, or the middle. */
  const enter = (at = pointer?.map((value) => Math.round(value * 16)) ?? middle()) => {
    if (!explorer.placed) return;
    if (explorer.placed.julia) return explorer.tell(say("is_a_julia_set"));
    if (!explorer.connected) return explorer.tell(say("the_connection_is_lost"), "error"); // the server knows the point
    const { center, width, rotation } = explorer.placed;
    own.map = { ...explorer.scene, view: { ...explorer.scene.view, center, width, rotation } };
    stop();
    explorer.open({ julia: { at } });
  };
  const cancel = () => own.mode === "touched" && (stop(), true);
  const leave = () => {
    if (!own.map || !explorer.placed?.julia) return false;
    explorer.open({ scene: { ...own.map, color: explorer.scene.color } });
    own.map = null;
    return true;
  };
  // In the capture phase: a click while J is held goes in, and moves nothing.
  canvas.addEventListener(
    "pointerdown",
    (/** @type {PointerEvent} */ event) => {
      if (!own.mode) return;
      event.stopImmediatePropagation();
      event.preventDefault();
      if (own.mode === "held") return void enter();
      finger = event.pointerId;
      touch(event);
    },
    { capture: true },
  );
  const touch = (/** @type {PointerEvent} */ event) => {
    if (!own.mode || event.pointerId !== finger) return;
    event.stopImmediatePropagation();
    const { left, top, width, height } = canvas.getBoundingClientRect();
    pointer = [
      ((event.clientX - left) * canvas.width) / width,
      ((event.clientY - top) * canvas.height) / height,
    ];
    show();
  };
  canvas.addEventListener("pointermove", touch, { capture: true });
  for (const name of ["pointerup", "pointercancel"])
    canvas.addEventListener(
      name,
      () => {
        finger = null;
      },
      { capture: true },
    );
  explorer.addEventListener("placed", () => {
    const { julia, values } = explorer.placed;
    if (!julia) own.map = null;
    if (julia || !values) stop(); // its points have no Julia sets
  });
  explorer.addEventListener("disconnected", stop);
  addEventListener("blur", stop);

  function View() {
    const touched = own.mode === "touched",
      done = (/** @type {MouseEvent} */ event) => (event.stopPropagation(), stop());
    return html`${
      own.picture &&
      html`<figure class=${`julia glass${touched ? " touched" : ""}`} style=${own.place} onClick=${() => enter()}><${Drawn} picture=${own.picture} />
      <figcaption><span>${touched ? say("tap_here_to_go_in") : say("click_to_go_in")}</span><${Button} label=${say("done")} kind="quiet" onClick=${done} /></figcaption></figure>`
    }
      ${own.map && explorer.placed?.julia && html`<div class="back glass"><${Button} label=${say("back_to_the_map")} symbol="back" kind="quiet" onClick=${leave} /></div>`}`;
  }
  return {
    View,
    cancel,
    leave,
    enter,
    middle,
    preview: () => start("touched"),
    commands: [
      {
        id: "julia",
        group: say("find"),
        title: say("hold_julia_set_of_the"),
        keys: ["j"],
        start: () => start(),
        stop,
      },
      {
        id: "julia-enter",
        group: say("find"),
        title: say("go_into_the_julia_set"),
        keys: ["Shift+J"],
        run: () => enter(),
      },
    ],
  };
}
