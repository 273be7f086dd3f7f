/** What the page knows of the values of a scene that have several forms. */
type Formula = string | FormulaTable;
/** A formula by its name or an expression, with its options. */
interface FormulaTable { name: string; transforms?: Transform[]; final?: Transform; first?: Formula; second?: Formula; [option: string]: unknown }
/** A transform of a flame, which moves points by its map and then by its variations. */
interface Transform {
  affine?: number[]; post?: number[]; variations?: Record<string, number>; xaos?: number[]; [number: string]: unknown;
  weight?: number; color?: number; color_speed?: number; opacity?: number;
}
type Coloring = string | ColoringTable;
interface ColoringTable { name: string; [option: string]: unknown }
type Palette = string | PaletteTable | string[];
interface PaletteTable { title?: string; source?: string; stops: Stops; cyclic?: boolean; space?: string; blend?: string }
/** Colors in equal steps, or each with its place. */
type Stops = string[] | Stop[];
type Stop = [number, string];
/** A palette whose colors all have a place. */
interface StopTable extends PaletteTable { stops: Stop[]; cyclic: boolean }
/** A part of the JSON Schema of a scene. */
interface Schema {
  description?: string; default?: unknown; enum?: string[]; minimum?: number; maximum?: number; exclusiveMinimum?: number; exclusiveMaximum?: number;
  type?: string | string[]; items?: Schema; anyOf?: Schema[]; oneOf?: Schema[]; properties?: Record<string, Schema>; $defs?: Record<string, Schema>; $ref?: string;
}
/** The JSON Schema of a scene, whose tables are definitions. */
interface SceneSchema extends SchemaOfTable { $defs: Record<string, SchemaOfTable> }
interface SchemaOfTable extends Schema { properties: Record<string, Schema> }
/** A layer as a list of colors has it: the base, a layer, or a group. */
interface Paint extends Layer { inside?: string; layers?: Paint[] }
/** Where a view lies in its plane. */
type Place = Pick<Scenes.View, "center" | "width" | "zoom" | "rotation">;
/** A scene as the server tells it: these tables are complete. */
interface WholeScene extends Scene { title: string; author: string; rights: string; note: string; formula: Formula; color: Color; view: Scenes.View; image: Scenes.ImageSettings }
/** What the server tells of a job: `surprised` with its preview. */
type OfJob = Received.Progress | Received.Started | (Received.Surprised & { preview: Preview });
type Preview = import("../fractals/explorer/client/decode.js").Pixels;
/** What questions are answered by; null: a newer `pick` has replaced this one. */
interface Answers {
  pick: Received.Picked | null; fit: Received.Fitted; histogram: Received.HistogramMessage; link: Received.LinkOf; bookmarks: Received.BookmarkList;
  bookmark: Received.BookmarkList; film: Received.Forecast; export: Received.Forecast; lookup: { entries: number; rows: Uint16Array }; class: Received.ClassOf;
}
type AnswerTo<Question> = Question extends { t: infer Name extends keyof Answers } ? Answers[Name] : never;
/** What jobs end with. */
interface Ends {
  find: Received.Found; surprise: Received.Done; sheet: Received.Done; moments: Received.Done; loupe: Received.Done;
  export: Received.Exported; film: Received.Exported; follow: Received.Exported;
}
/** A job that runs: a search, a sheet, an export or a film. */
interface Job<Name extends keyof Ends = keyof Ends> { id: number; done: Promise<Ends[Name]>; cancel: () => unknown }
/** A message as panels ask for it: the page numbers it, and names the frame. */
type Asked<T = Sent> = T extends Sent ? Omit<T, Numbers> & { [K in Numbers]?: number } : never;
type Numbers = "frame" | "job" | "seq";
/** What the model is asked to open: a Julia set is that of a point of the canvas. */
type Opened = Partial<Omit<Sent.Open, "julia">> & { julia?: { at: number[] } };
/** What panels and tools are given. */
interface Context {
  explorer: import("../fractals/explorer/client/explorer.js").Explorer;
  canvas: HTMLCanvasElement;
  ui: Ui;
  julia: ReturnType<typeof import("../fractals/explorer/client/panels/julia.js").juliaTool>;
  past: ReturnType<typeof import("../fractals/explorer/client/panels/snapshots.js").snapshotsTool>;
  autopilot: ReturnType<typeof import("../fractals/explorer/client/panels/autopilot.js").autopilotTool>;
  space: ReturnType<typeof import("../fractals/explorer/client/panels/space.js").spaceTool>;
  tried: Tried;
  open: (id: string, how?: { focus?: boolean }) => Promise<Panel | undefined>;
  close: () => boolean;
  notify: Notify;
  upload: (file: File) => Promise<void>;
  second: (where?: number[]) => Promise<void>;
}
/** What lays choices over the picture, and shows nine of them on a wall. */
type Tried = ReturnType<typeof import("../fractals/explorer/client/panels/later.js").tryLater>;
type Notify = (text: string, kind?: string, options?: { action?: Action | null; id?: string; stays?: boolean }) => void;
/** What a message offers: a button's label, and what it does. */
type Action = [string, () => void];
/** What a mask is painted with; `put` takes the mask after each stroke. */
interface Brushed { on: boolean; mask: PictureMask | null; size: number; soft: number; shows: boolean; put: (mask: PictureMask | null) => void }
/** A picture of a scene that is like the one that is shown. */
interface Pictured { scene: Scene; picture: HTMLCanvasElement }
/** A view of the panels; `Over`: what it lays over the picture. */
interface Panel {
  View: () => unknown; Actions?: () => unknown; Over?: () => unknown; Foot?: () => unknown;
  shown?: () => unknown; hidden?: () => unknown; cancel?: () => unknown;
  draw?: () => unknown; take?: (file: File) => unknown; add?: () => unknown;
  nucleus?: () => unknown; near?: (what: "nucleus" | "misiurewicz", rect: number[]) => unknown;
}
/** What of the user interface is seen. */
interface Ui {
  open: string; unfolded: boolean; bare: boolean; dragged: boolean; over: Laid | null;
  messages: { id: string; text: string; kind: string; action?: Action | null; of?: string; stays?: boolean; also?: string }[];
  second: ReturnType<typeof import("../fractals/explorer/client/panels/second.js").secondView> | null;
  explain: ReturnType<typeof import("../fractals/explorer/client/panels/explain.js").explainTool> | null;
}
/** A picture that lies over the one of the view, or over a part of it up to this share of its width. */
interface Laid { picture: string | HTMLCanvasElement | ImageBitmap; title: string; split?: number; tried?: boolean }
/** A place of a film: its link. */
interface FilmPlace { id: number; title: string; link: string; still?: string; thumbnail?: string; ease?: EaseName }
/** How a film, or a value, comes to a key. */
type EaseName = NonNullable<Sent.FilmMessage["eases"]>[number];
/** A place that is kept in the browser, with a small picture's address. */
interface Snapshot { letter: string; scene: WholeScene; still: string }
/** An event of a field, or of another element. */
interface FieldEvent<Element = HTMLInputElement> extends Event { target: Element; currentTarget: Element }
/** The model tells of what happens by events with a detail. */
interface EventTarget {
  addEventListener(type: string, listener: (event: CustomEvent) => void, options?: boolean | AddEventListenerOptions): void;
  removeEventListener(type: string, listener: (event: CustomEvent) => void, options?: boolean | EventListenerOptions): void;
}
/** Fields that elements carry for what happens to them. */
interface HTMLElement { from?: { x: number; offset: number } | null; left?: number; counted?: boolean; watched?: IntersectionObserver }
/** How tsc reads templates, once `.ci/templates.mjs` has written them as JSX: each component tells its properties. */
declare namespace JSX {
  type Element = any;
  interface IntrinsicElements { [name: string]: Attributes & { [name: string]: any } }
  interface IntrinsicAttributes { key?: any }
  interface ElementChildrenAttribute { children: any }
  type LibraryManagedAttributes<Component, Properties> = string extends keyof Properties ? never : Properties;
}
/** What a bar of progress shows; `share` null: of unknown length. */
interface Told { share: number | null; text: string }
/** What a field has read, or what is wrong with its text. */
type Read = { value?: unknown; wrong?: string };
/** What a list of choices is made of: names, or names with their texts. */
type Choices = readonly (string | readonly string[])[];
/** An option of a coloring or a formula, as its field needs it. */
interface OptionOf {
  name: string; type?: "int" | "float" | "text" | "choice" | "bool"; choices?: string[]; default?: number | string | boolean;
  least?: number | null; most?: number | null; meaning?: string; part?: string;
}
/** What a component hands on to its element. */
interface Attributes {
  id?: string; class?: string; style?: Record<string, unknown>; title?: string; type?: string; ref?: unknown; placeholder?: string; inputmode?: string; maxlength?: string;
  hidden?: boolean; disabled?: boolean; tabindex?: string | number; role?: string; autocomplete?: string;
  onClick?: (event: MouseEvent) => unknown; onDblClick?: (event: MouseEvent) => unknown; onKeyDown?: (event: KeyboardEvent) => unknown;
  onInput?: (event: FieldEvent) => unknown; onChange?: (event: FieldEvent) => unknown; onToggle?: (event: FieldEvent<HTMLDetailsElement>) => unknown;
  onPointerDown?: (event: PointerEvent) => unknown; onPointerMove?: (event: PointerEvent) => unknown; onPointerUp?: (event: PointerEvent) => unknown;
  onLostPointerCapture?: (event: PointerEvent) => unknown; onPointerEnter?: (event: PointerEvent) => unknown; onPointerLeave?: (event: PointerEvent) => unknown;
  onFocus?: (event: FocusEvent) => unknown; onBlur?: (event: FocusEvent) => unknown;
  [name: `aria-${string}`]: unknown;
  [name: `data-${string}`]: unknown;
}
