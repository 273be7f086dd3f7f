/** Scenes to choose from: the gallery, and the user's bookmarks. */
import { html } from "../html.js";
import { observe } from "../state.js";
import { Button, Card, Coming, FileButton, TextField, Thumbnail } from "../ui.js";
import { Road } from "./road.js";

const ALL = "All";
const GROUPS = [ALL, "Flat", "Deep", "Points", "Solids"]; // of `catalog.scenes`

export function galleryPanel(/** @type {Context} */ { explorer, ui, open, close, upload }) {
  const own = observe({ wanted: "", group: ALL });
  const choose = (/** @type {string} */ name, /** @type {Event} */ { currentTarget }) => {
    history.replaceState({ ...history.state, gallery: true }, ""); // Back returns to it
    const before = explorer.placed?.frame;
    explorer.open({ gallery: name });
    const image = /** @type {HTMLElement} */ (currentTarget).closest("li")?.querySelector("img");
    void import("./standin.js")
      .then(({ standIn }) => standIn(explorer, ui, image, before))
      .catch(() => {});
    close();
  };
  const vary = (/** @type {string} */ name, /** @type {Event} */ event) => {
    choose(name, event);
    explorer.addEventListener("drawn", async () => (await open("surprise"))?.draw(), {
      once: true,
    });
  };
  const Actions =
    () => html`<div class="line grow end"><${Coming} /><input type="search" class="search" placeholder="Search" aria-label="Search the gallery" value=${own.wanted}
    onInput=${(/** @type {Table} */ { target }) => {
      own.wanted = target.value;
    }} /><${FileButton} label="Open file" kind="quiet" take=${upload} /></div>`;
  const fits = (/** @type {Table} */ { title, group }) =>
    title.toLowerCase().includes(own.wanted.trim().toLowerCase()) &&
    [ALL, group].includes(own.group);
  const View = () =>
    html`<${Road} at="gallery" open=${open} /><div class="chips" role="group" aria-label="Kinds of scenes">${GROUPS.filter(
      (group) =>
        group === ALL ||
        explorer.catalog.scenes.some((/** @type {Table} */ each) => each.group === group),
    ).map(
      (group) =>
        html`<${Button} key=${group} label=${group} kind="chip-button" aria-pressed=${String(own.group === group)} onClick=${() => {
          own.group = group;
        }} />`,
    )}</div><ul class="cards" aria-label="Scenes">${explorer.catalog.scenes.map(
      (
        /** @type {Table} */ { name, title, group },
      ) => html`<li key=${name} hidden=${!fits({ title, group })}>
    <${Card} title=${title} onClick=${(/** @type {Event} */ event) => choose(name, event)}><${Thumbnail} src=${`/thumbnail/scene/${name}`} /><//>
    <${Button} label=${`More like ${title}`} symbol="surprise" bare kind="corner-button passing" onClick=${(/** @type {Event} */ event) => vary(name, event)} /></li>`,
    )}</ul>`;
  return { View, Actions };
}

export function bookmarksPanel(/** @type {Context} */ { explorer, notify, open }) {
  // `renamed`: the id of a bookmark whose name is a field; `dragged`: of one that is moved to another place
  const own = observe({ items: /** @type {Table[]} */ ([]), title: "", renamed: "", dragged: "" });

  async function ask(/** @type {Asked<Sent.Bookmark|Sent.BookmarksMessage>} */ message) {
    try {
      own.items = (await explorer.request(message)).items;
    } catch (error) {
      notify(error.message, "error");
    }
  }
  const keep = (/** @type {Event} */ event) => {
    event.preventDefault();
    ask({
      t: "bookmark",
      title: own.title.trim() || explorer.scene?.title || explorer.placed?.formula || "",
    });
    own.title = "";
  };
  const rename = (/** @type {string} */ id, /** @type {string} */ title) => {
    own.renamed = "";
    ask({ t: "bookmark", rename: id, title: title.trim() });
  };
  const sort = (/** @type {Table[]} */ items) => {
    const before = own.items.map(({ id }) => id),
      order = items.map((/** @type {Table} */ { id }) => id);
    if (order.join() === before.join()) return;
    own.items = items;
    ask({ t: "bookmark", order });
    notify("The bookmarks have another order.", "info", {
      id: "order",
      action: ["Undo", () => ask({ t: "bookmark", order: before })],
    });
  };
  /** Move a bookmark to another's place. */
  const put = (/** @type {string} */ id, /** @type {number} */ to) => {
    const from = own.items.findIndex((item) => item.id === id),
      item = own.items[from];
    if (item && to >= 0 && to < own.items.length)
      sort(own.items.toSpliced(from, 1).toSpliced(to, 0, item));
  };
  const remove = async (
    /** @type {string} */ id,
    /** @type {string} */ link,
    /** @type {string} */ title,
  ) => {
    const at = own.items.findIndex((item) => item.id === id);
    await ask({ t: "bookmark", remove: id });
    const again = async () => {
      await ask({ t: "bookmark", link, title });
      const [newest, ...others] = own.items;
      if (at > 0)
        await ask({ t: "bookmark", order: others.toSpliced(at, 0, newest).map((item) => item.id) });
    };
    notify(`${title || "Untitled"} was removed.`, "info", { action: ["Undo", again] });
  };
  const key =
    (/** @type {string} */ id, /** @type {number} */ index) => (/** @type {any} */ event) => {
      const step = /** @type {Record<string, number>} */ ({
        ArrowLeft: -1,
        ArrowUp: -1,
        ArrowRight: 1,
        ArrowDown: 1,
      })[event.key];
      if (!step) return;
      event.preventDefault();
      put(id, index + step);
      requestAnimationFrame(() =>
        /** @type {HTMLElement} */ (document.querySelector(`[data-grip="${id}"]`))?.focus(),
      );
    };
  /** A grip: dragged over another bookmark, it moves this one there; arrow keys move it, too. */
  const Grip = (
    /** @type {{id: string, index: number, title: string}} */ { id, index, title },
  ) => html`<${Button} label=${`Move ${title || "Untitled"}: drag, or press an arrow key`} symbol="grip" bare kind="corner-button grip-button" data-grip=${id} onKeyDown=${key(id, index)}
    onPointerDown=${(/** @type {any} */ event) => (event.currentTarget.setPointerCapture(event.pointerId), (own.dragged = id))}
    onPointerMove=${(/** @type {Table} */ { clientX, clientY }) => {
      const over = /** @type {HTMLElement|null} */ (
        own.dragged ? document.elementFromPoint(clientX, clientY)?.closest("[data-bookmark]") : null
      );
      const to = over ? own.items.findIndex((item) => item.id === over.dataset.bookmark) : -1;
      if (to >= 0) own.items = moved(own.items, own.dragged, to);
    }}
    onLostPointerCapture=${() => drop()} />`;
  let shown = /** @type {Table[]|null} */ (null); // the order before a drag
  const moved = (
    /** @type {Table[]} */ items,
    /** @type {string} */ id,
    /** @type {number} */ to,
  ) => {
    shown ??= items;
    const from = items.findIndex((/** @type {Table} */ item) => item.id === id);
    return from < 0 ? items : items.toSpliced(from, 1).toSpliced(to, 0, items[from]);
  };
  const drop = () => {
    const items = own.items;
    own.dragged = "";
    if (!shown) return;
    own.items = shown;
    shown = null;
    sort(items);
  };
  if (!explorer.welcome?.bookmarks)
    return {
      View: () =>
        html`<p class="hint">This server keeps no bookmarks. Copy a link under Share: it holds the whole scene.</p>`,
    };
  const View = () => html`<div class="stack">
    <form class="line" onSubmit=${keep}><input type="text" class="grow" aria-label="Title of the bookmark" placeholder="Title" maxlength="200" value=${own.title}
      onInput=${(/** @type {Table} */ { target }) => {
        own.title = target.value;
      }} /><${Button} label="Keep this place" kind="primary" type="submit" /></form>
    ${own.items.length === 0 && html`<p class="hint">No bookmarks yet. Go to a place that you like, and keep it.</p>`}
    <ul class="cards small" aria-label="Bookmarks">${own.items.map(
      (
        { id, title, link, thumbnail },
        index,
      ) => html`<li key=${id} data-bookmark=${id} class=${own.dragged === id ? "dragged" : ""}>
      <${Card} title=${own.renamed === id ? "" : title || "Untitled"} onClick=${() => explorer.open({ link })}><${Thumbnail} src=${thumbnail} /><//>
      ${own.items.length > 1 && html`<${Grip} id=${id} index=${index} title=${title} />`}
      ${own.renamed === id && html`<${TextField} aria-label="New title" maxlength="200" value=${title} put=${(/** @type {string} */ text) => rename(id, text)} />`}
      <${Button} label=${`Rename ${title || "Untitled"}`} symbol="edit" bare kind="corner-button left" onClick=${() => {
        own.renamed = own.renamed === id ? "" : id;
      }} />
      <${Button} label=${`Remove ${title || "Untitled"}`} symbol="trash" bare kind="corner-button" onClick=${() => remove(id, link, title)} /></li>`,
    )}</ul>
    ${own.items.length > 1 && html`<${Button} label="Film through these places" kind="wide-button" onClick=${async () => (await open("film"))?.add([])} />`}</div>`;
  return { View, shown: () => ask({ t: "bookmarks" }) };
}
