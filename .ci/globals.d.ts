/** A table of a message, a scene or the catalog, as PROTOCOL.md describes it. */
type Table = Record<string, any>;
/** A table of the server; null until it has arrived. Who reads it is shown or called after that. */
type Arrived = any;
/** A message as panels ask for it: the page numbers it, and names the frame. */
type Asked<T = Sent> = T extends Sent ? Omit<T, Numbers> & { [K in Numbers]?: number } : never;
type Numbers = "frame" | "job" | "seq";
/** What panels and tools are given. */
interface Context {
  explorer: import("../fractals/explorer/client/explorer.js").Explorer;
  canvas: HTMLCanvasElement;
  ui: Table;
  julia: Table;
  past: Table;
  autopilot: Table;
  space: Table;
  tried: Table;
  open: (id: string, how?: { focus?: boolean }) => Promise<Table | undefined>;
  close: () => boolean;
  notify: (text: string, kind?: string, options?: { action?: [string, () => void] | null; id?: string }) => void;
  upload: (file: File) => Promise<void>;
  second: (where?: number[]) => Promise<void>;
}
/** Fields that elements carry for what happens to them. */
interface HTMLElement { from?: any; left?: number; counted?: boolean }
/** How tsc reads templates, once `.ci/templates.mjs` has written them as JSX: each component tells its properties. */
declare namespace JSX {
  type Element = any;
  interface IntrinsicElements { [name: string]: any }
  interface IntrinsicAttributes { key?: any }
  interface ElementChildrenAttribute { children: any }
  type LibraryManagedAttributes<Component, Properties> = string extends keyof Properties ? never : Properties;
}
/** What a bar of progress shows; `share` null: of unknown length. */
interface Told { share: number | null; text: string; preview?: any }
/** What a field has read, or what is wrong with its text. */
type Read = { value?: any; wrong?: string };
/** What a list of choices is made of: names, or names with their texts. */
type Choices = readonly (string | readonly any[])[];
/** What a component hands on to its element. */
interface Attributes {
  id?: string; class?: string; style?: Table; title?: string; type?: string; ref?: any; placeholder?: string; inputmode?: string; maxlength?: string;
  hidden?: boolean; disabled?: boolean; tabindex?: string; role?: string; autocomplete?: string;
  onClick?: any; onKeyDown?: any; onPointerDown?: any; onPointerMove?: any; onLostPointerCapture?: any; onPointerEnter?: any; onPointerLeave?: any; onFocus?: any; onBlur?: any;
  [name: `aria-${string}`]: any;
  [name: `data-${string}`]: any;
}
