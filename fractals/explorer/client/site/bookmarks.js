/** Bookmarks that the browser keeps. */
import { kept } from "../state.js";
import { told } from "./said.js";
import { linkOf } from "./scene.js";

const KEY = "site.bookmarks",
  MOST = 200;

/** @typedef {{id: string, title: string, link: string, thumbnail: string}} Item */

export class Bookmarks {
  /** @param {(scene: SiteScene) => Promise<string>} picture a small one, as an address */
  constructor(picture) {
    this.picture = picture;
  }

  /** Do what a message `bookmark` asks for, and return the list. @param {Sent.Bookmark|Sent.BookmarksMessage} message @param {SiteScene|null} scene to keep
   * @returns {Promise<Item[]>} */
  async changed(message, scene) {
    let items = /** @type {Item[]} */ (kept.get(KEY, []));
    if (message.t === "bookmarks") return items;
    const { remove, rename, order, title = "" } = message;
    if (remove) items = items.filter(({ id }) => id !== remove);
    else if (rename) items = items.map((each) => (each.id === rename ? { ...each, title } : each));
    else if (order) {
      const sorted = order.flatMap((id) => items.filter((each) => each.id === id));
      if (sorted.length !== items.length || order.length !== items.length)
        throw new Error(told("bookmarks_changed"));
      items = sorted;
    } else if (scene) {
      if (items.length >= MOST) throw new Error(told("most_bookmarks", { most: MOST }));
      const own = { ...scene, title: title || (scene.title ?? "") };
      const thumbnail = await this.picture(own);
      items = [
        { id: crypto.randomUUID(), title: own.title, link: await linkOf(own), thumbnail },
        ...items,
      ];
    }
    kept.set(KEY, items);
    return items;
  }
}
