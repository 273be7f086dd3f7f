/** A page of a class: what its leader, or a guest, sees of it over the picture. */
import { effect, html, render, untracked } from "../html.js";
import { keepFocus } from "../panels/refocus.js";
import { Button } from "../ui.js";
import { Following } from "./following.js";
import { Leading } from "./leading.js";
import { guestPanel, leaderPanel } from "./panel.js";
import { told } from "./said.js";

const SEEN = ["", "class", "help"]; // panels that need nothing drawn

const rest = (/** @type {number} */ ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** Return the picture of the leader. @param {number} number @returns {Promise<ImageBitmap>} */
async function loaded(number) {
  const answer = await fetch(`/class/0.jpg?${number}`, { cache: "no-store" });
  if (!answer.ok) throw new Error(String(answer.status));
  return createImageBitmap(await answer.blob());
}

/** Take part, and return the panel of the class. @param {Context} context @param {"leader"|"guest"} role
 * @param {boolean} linked whether the page was opened by a link to a scene */
export function joinClass(context, role, linked) {
  const style = Object.assign(document.createElement("link"), {
    rel: "stylesheet",
    href: "/client/class/class.css",
  });
  const root = Object.assign(document.createElement("div"), { id: "class" });
  document.head.append(style);
  document.getElementById("ui")?.after(root);
  keepFocus(root);
  const panel = role === "leader" ? leads(context, root) : follows(context, root, linked);
  return { id: "class", title: told("class"), key: "", aside: true, ...panel };
}

function leads(
  /** @type {Context} */ { explorer, open, close, notify, ui },
  /** @type {HTMLElement} */ root,
) {
  const leading = new Leading(explorer, rest);
  const gather = () => {
    leading.show();
    notify(told("called_back"));
  };
  function Chip() {
    const { looked, shown, present, told: how } = leading;
    if (ui.bare) return null;
    if (looked)
      return html`<section class="class-chip glass" role="status"><span class="grow">${told("you_look_at", { name: looked.name })}</span>
        <span class="line"><${Button} label=${told("show_to_everyone")} kind="primary" onClick=${gather} /><${Button} label=${told("back_to_your_view")} onClick=${() => leading.back()} /></span></section>`;
    return html`<section class="class-chip glass">
      ${shown && html`<span>${told("picture_of", { name: shown.name })}</span><${Button} label=${told("back_to_your_view")} onClick=${() => leading.back()} />`}
      ${how && !how.leads && html`<span>${told("other_page_leads")}</span><${Button} label=${told("lead_here")} kind="primary" onClick=${() => leading.ask({ lead: true })} />`}
      <${Button} label=${told("class_of", { count: present.length })} kind="quiet" aria-expanded=${String(ui.open === "class")} onClick=${() => void (ui.open === "class" ? close() : open("class"))} /></section>`;
  }
  render(html`<${Chip} />`, root);
  const panel = leaderPanel(leading, close, gather);
  return { wide: true, load: async () => () => panel };
}

/** Ask for the code again where the server knows the guest no more: it was started again, or the leader has ended the visit. */
async function askAgain() {
  await rest(1000);
  const { status } = await fetch("/client/main.js", { method: "HEAD", cache: "no-store" }).catch(
    () => ({ status: 0 }), // nobody answers
  );
  if (status === 401) location.reload(); // the address keeps the scene
}

function follows(
  /** @type {Context} */ { explorer, open, close, ui },
  /** @type {HTMLElement} */ root,
  /** @type {boolean} */ linked,
) {
  const guest = new Following(explorer, loaded, rest, linked);
  // Other panels ask about what is drawn.
  effect(() => {
    const needed = !SEEN.includes(ui.open);
    untracked(() => needed && guest.leave(true));
  });
  effect(() => {
    document.documentElement.classList.toggle("following", guest.following);
    untracked(() => guest.following && !SEEN.includes(ui.open) && close());
  });
  /** What is shown, in words. */
  const words = () => {
    const { led } = guest;
    if (!led?.here) return told("leader_is_away");
    if (!led.number) return told("nothing_yet");
    return led.name ? told("picture_of", { name: led.name }) : told("you_follow");
  };
  function Chip() {
    const { following, name } = guest;
    if ((ui.bare && following) || !explorer.connected) return null; // a message says why
    return html`<section class="class-chip glass">${following ? html`<span class="class-state" role="status"><i class="class-dot" aria-hidden="true"></i><span>${words()}</span><span class="faint">${told("move_it")}</span></span>` : html`<${Button} label=${told("follow_again")} kind="primary" onClick=${() => guest.follow()} />`}
      <${Button} label=${name || told("your_name")} kind="quiet" aria-expanded=${String(ui.open === "class")} onClick=${() => void (ui.open === "class" ? close() : open("class"))} /></section>`;
  }
  explorer.addEventListener("disconnected", () => void askAgain());
  render(html`<${Chip} />`, root);
  guest.tell();
  const panel = guestPanel(guest);
  return { wide: false, load: async () => () => panel };
}
