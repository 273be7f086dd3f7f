/** A table of a message, a scene or the catalog, as PROTOCOL.md describes it. */
type Table = Record<string, any>;
/** A table of the server; null until it has arrived. Who reads it is shown or called after that. */
type Arrived = any;
/** Fields that elements carry for what happens to them. */
interface HTMLElement { from?: any; left?: number; counted?: boolean }
