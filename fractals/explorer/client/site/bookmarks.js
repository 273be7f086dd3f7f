/** Bookmarks that the browser keeps. */
import { kept } from "../state.js";
import { linkOf } from "./scene.js";

const KEY = "site.bookmarks",
  MOST = 200;

/** @typedef {{id: string, title: string, link: string, thumbnail: string}} Item */

export class Bookmarks {
  /** @param {(scene: Table) => Promise<string>} picture a small one, as an address */
  constructor(picture) {
    this.picture = picture;
  }

  /** Do what a message `bookmark` asks for, and return the list. @param {Table} message @param {Table|null} scene to keep
   * @returns {Promise<Item[]>} */
  async changed({ t, remove, rename, order, title = "" }, scene) {
    let items = /** @type {Item[]} */ (kept.get(KEY, []));
    if (t === "bookmarks") return items;
    if (remove) items = items.filter(({ id }) => id !== remove);
    else if (rename) items = items.map((each) => (each.id === rename ? { ...each, title } : each));
    else if (order) {
      const sorted = order.map((/** @type {string} */ id) => items.find((each) => each.id === id));
      if (sorted.length !== items.length || sorted.includes(undefined))
        throw new Error("the bookmarks have changed: open the list again");
      items = sorted;
    } else if (scene) {
      if (items.length >= MOST) throw new Error(`this browser keeps at most ${MOST} bookmarks`);
      const own = { ...scene, title: title || scene.title };
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
