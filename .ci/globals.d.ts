/** A table of a message, a scene or the catalog, as PROTOCOL.md describes it. */
type Table = Record<string, any>;
/** Fields that elements carry for what happens to them. */
interface HTMLElement { from?: any; left?: number; counted?: boolean }
