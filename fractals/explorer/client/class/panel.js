/** The panel of a class: for its leader a wall of the guests' pictures, for a guest the name. */
import { html } from "../html.js";
import { Button, Card, Row, Section, TextField, Toggle } from "../ui.js";
import { told } from "./said.js";

const LONGEST = 24; // characters of a name

/** @param {import("./leading.js").Leading} leading @param {() => void} close @param {() => void} gather has all follow */
export function leaderPanel(leading, close, gather) {
  const Door = (
    /** @type {Received.ClassOf} */ { address, code, open },
  ) => html`<div class="class-door">
    <img class="class-code" src=${`/class/code.svg?${code}`} alt=${told("code_picture")} width="200" height="200" onError=${(
      /** @type {FieldEvent<HTMLImageElement>} */ { target },
    ) => {
      target.hidden = true;
    }} />
    <dl class="class-facts"><div><dt>${told("address")}</dt><dd class="mono">${address.replace("http://", "")}</dd></div>
      <div><dt>${told("code")}</dt><dd class="class-letters mono">${code}</dd></div></dl>
    <div class="stack grow"><p class="hint">${told("come_in")}</p>
      <${Toggle} label=${told("let_in")} value=${open} put=${(/** @type {boolean} */ on) => leading.ask({ open: on })} />
      <${Button} label=${told("new_code")} onClick=${() => leading.ask({ renew: true })} /></div></div>`;

  const Remove = (/** @type {Received.GuestFacts & {kind: string}} */ { number, name, kind }) =>
    html`<${Button} label=${told("remove", { name })} symbol="trash" bare kind=${kind} onClick=${() => leading.ask({ remove: number })} />`;
  const Person = (/** @type {{guest: Received.GuestFacts}} */ { guest }) => {
    const { number, name, picture } = guest;
    const look = () => {
      leading.look(guest);
      close();
    };
    return html`<li><${Card} title=${name} onClick=${look}>${picture ? html`<img alt="" width="320" height="180" src=${`/class/${number}.jpg?${picture}`} />` : html`<span class="class-blank"></span>`}<//>
      <${Remove} ...${guest} kind="corner-button passing" /></li>`;
  };
  const Names = (/** @type {{title: string, guests: Received.GuestFacts[]}} */ { title, guests }) =>
    guests.length > 0 &&
    html`<h3 class="group">${title}</h3><ul class="class-names" aria-label=${title}>${guests.map((guest) => html`<li key=${guest.number}><span>${guest.name}</span><${Remove} ...${guest} kind="quiet" /></li>`)}</ul>`;

  function View() {
    const how = leading.told;
    if (!how) return null;
    const kinds = [
      how.guests.filter(({ here, following }) => here && !following),
      how.guests.filter(({ here, following }) => here && following),
      how.guests.filter(({ here }) => !here),
    ];
    const [alone, following, away] = kinds;
    return html`<div class="stack"><${Section} title=${told("door")} name="class door"><${Door} ...${how} /><//>
      ${!how.guests.length && html`<p class="hint">${told("no_guests")}</p>`}
      ${alone.length > 0 && html`<h3 class="group">${told("explore")}</h3><ul class="cards class-wall" aria-label=${told("explore")}>${alone.map((guest) => html`<${Person} key=${guest.number} guest=${guest} />`)}</ul>`}
      <${Names} title=${told("follow")} guests=${following} /><${Names} title=${told("away")} guests=${away} /></div>`;
  }
  const Actions = () =>
    html`<div class="line grow end"><${Button} label=${told("call_back")} kind="primary" onClick=${gather} /></div>`;
  return { View, Actions };
}

/** @param {import("./following.js").Following} following */
export function guestPanel(following) {
  const View = () => html`<div class="stack">
    <${Row} label=${told("your_name")} hint=${told("name_is_seen")} control=${(/** @type {string} */ id) => html`<${TextField} id=${id} maxlength=${String(LONGEST)} value=${following.name} put=${(/** @type {string} */ name) => following.call(name)} />`} />
    ${following.following ? html`<${Button} label=${told("explore_alone")} kind="wide-button" onClick=${() => following.leave(true)} />` : html`<${Button} label=${told("follow_again")} kind="primary wide-button" onClick=${() => following.follow()} />`}
    <p class="hint">${told("your_view_stays")}</p></div>`;
  return { View };
}
