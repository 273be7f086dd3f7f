/**
 * Commands and their keys. Panels add theirs with `addCommands`.
 *
 * @typedef {{id: string, title: string, group: string, keys: string[],
 *   run?: (explorer: import("./explorer.js").Explorer) => void,
 *   start?: (explorer: object) => void, stop?: (explorer: object) => void}} Command
 * `keys` are like "Control+z", "Shift+N", "ArrowLeft", "j": modifiers Control (or Meta), Alt, Shift in this
 * order, then KeyboardEvent.key; a letter is lower case unless Shift is named. `start` and `stop`: while the key is held.
 */

/** @type {Command[]} in the order of the list that the user sees */
export const commands = [];

/** @param {...Command} added */
export function addCommands(...added) { commands.push(...added); }
