/** Scenes to choose from: the gallery, a sheet of twelve surprises, the user's bookmarks. */
import { html } from "../html.js";
import { observe } from "../state.js";
import { Button, Card, Drawn, FileButton, Progress, TextField, Thumbnail, words } from "../ui.js";

const SHEET = 12;

export function galleryPanel({ explorer, close, upload }) {
  const own = observe({ wanted: "" });
  const choose = (name) => {
    history.replaceState({ ...history.state, gallery: true }, ""); // Back returns to it
    explorer.open({ gallery: name });
    close();
  };
  const Actions = () => html`<div class="line grow end"><input type="search" class="search" placeholder="Search" aria-label="Search the gallery" value=${own.wanted}
    onInput=${({ target }) => { own.wanted = target.value; }} /><${FileButton} label="Open file" kind="quiet" take=${upload} /></div>`;
  const fits = (title) => title.toLowerCase().includes(own.wanted.trim().toLowerCase());
  const View = () => html`<ul class="cards" aria-label="Scenes">${explorer.catalog.scenes.map(({ name, title }) => html`<li key=${name} hidden=${!fits(title)}>
    <${Card} title=${title} onClick=${() => choose(name)}><${Thumbnail} src=${`/thumbnail/scene/${name}`} /><//></li>`)}</ul>`;
  return { View, Actions };
}

export function surprisePanel({ explorer, notify, close }) {
  const own = observe({ cards: [], told: null });
  let job = null;
  const choose = (scene) => {
    explorer.open({ scene });
    close();
  };

  async function draw() {
    job?.cancel();
    Object.assign(own, { cards: new Array(SHEET).fill(null), told: { share: 0, text: "Mutating this scene" } });
    const mine = explorer.job({ t: "surprise", seed: Math.floor(Math.random() * 2 ** 31) }, ({ t, index, label, scene, preview }) => {
      if (t !== "surprised") return;
      own.cards = own.cards.with(index, { label, scene, picture: explorer.pixelsOf(preview) });
      const count = own.cards.filter(Boolean).length;
      own.told = { share: count / SHEET, text: `${count} of ${SHEET}` };
    });
    job = mine;
    try {
      await mine.done;
    } catch (error) {
      if (!error.cancelled) notify(error.message, "error");
    } finally {
      if (job === mine) {
        job = null;
        Object.assign(own, { told: null, cards: own.cards.filter(Boolean) });
      }
    }
  }
  const item = (made, index) => (made ? html`<li key=${index}><${Card} title=${words(made.label)} onClick=${() => choose(made.scene)}><${Drawn} picture=${made.picture} /><//></li>`
    : html`<li key=${`empty ${index}`} class="empty" aria-hidden="true"></li>`);
  return {
    View: () => html`<div class="stack"><${Progress} told=${own.told} cancel=${() => job?.cancel()} /><ul class="cards" aria-label="Surprises">${own.cards.map(item)}</ul></div>`,
    Actions: () => html`<div class="line grow end"><${Button} label="Twelve more" symbol="surprise" kind="quiet" onClick=${draw} /></div>`,
    shown: () => own.cards.length || draw(),
    hidden: () => job?.cancel(),
  };
}

export function bookmarksPanel({ explorer, notify, open }) {
  const own = observe({ items: [], title: "", renamed: "" }); // `renamed`: the id of a bookmark whose name is a field

  async function ask(message) {
    try {
      own.items = (await explorer.request(message)).items;
    } catch (error) {
      notify(error.message, "error");
    }
  }
  const keep = (event) => {
    event.preventDefault();
    ask({ t: "bookmark", title: own.title.trim() || explorer.scene?.title || explorer.placed?.formula || "" });
    own.title = "";
  };
  const rename = (id, title) => {
    own.renamed = "";
    ask({ t: "bookmark", rename: id, title: title.trim() });
  };
  const remove = async (id, link, title) => {
    await ask({ t: "bookmark", remove: id });
    notify(`${title || "Untitled"} was removed.`, "info", { action: ["Undo", () => ask({ t: "bookmark", link })] });
  };
  if (!explorer.welcome?.bookmarks) return { View: () => html`<p class="hint">This server keeps no bookmarks. Copy a link under Share: it holds the whole scene.</p>` };
  const View = () => html`<div class="stack">
    <form class="line" onSubmit=${keep}><input type="text" class="grow" aria-label="Title of the bookmark" placeholder="Title" maxlength="200" value=${own.title}
      onInput=${({ target }) => { own.title = target.value; }} /><${Button} label="Keep this place" kind="primary" type="submit" /></form>
    ${own.items.length === 0 && html`<p class="hint">No bookmarks yet. Go to a place that you like, and keep it.</p>`}
    <ul class="cards small" aria-label="Bookmarks">${own.items.map(({ id, title, link, thumbnail }) => html`<li key=${id}>
      <${Card} title=${own.renamed === id ? "" : title || "Untitled"} onClick=${() => explorer.open({ link })}><${Thumbnail} src=${thumbnail} /><//>
      ${own.renamed === id && html`<${TextField} aria-label="New title" maxlength="200" value=${title} put=${(text) => rename(id, text)} />`}
      <${Button} label=${`Rename ${title || "Untitled"}`} symbol="edit" bare kind="corner-button left" onClick=${() => { own.renamed = own.renamed === id ? "" : id; }} />
      <${Button} label=${`Remove ${title || "Untitled"}`} symbol="trash" bare kind="corner-button" onClick=${() => remove(id, link, title)} /></li>`)}</ul>
    ${own.items.length > 1 && html`<${Button} label="Film through these places" kind="wide-button" onClick=${() => open("film").add([])} />`}</div>`;
  return { View, shown: () => ask({ t: "bookmarks" }) };
}
