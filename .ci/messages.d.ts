// Written by scripts/client_types.py from fractals/explorer/protocol.py.

declare namespace Sent {
  /** A pixel of a frame. */
  interface At {
    frame: number;
    at: number[];
  }
  /** A bookmark to keep, of a frame or a link; to rename, or to remove; or an order of all. */
  interface Bookmark {
    t: "bookmark";
    frame?: number | null;
    link?: string | null;
    title?: string;
    author?: string;
    rename?: string | null;
    remove?: string | null;
    order?: string[] | null;
  }
  /** The list of bookmarks. */
  interface BookmarksMessage {
    t: "bookmarks";
  }
  /** The end of a job. */
  interface Cancel {
    t: "cancel";
    job: number;
  }
  /** A file of a frame, in a process of its own. */
  interface Export {
    job: number;
    frame: number;
    size: number[];
    supersampling?: number;
    author?: string;
    t: "export";
    format?: "png" | "jpg" | "webp" | "tiff" | "html" | "npz" | "exr";
    forecast?: boolean;
    keep?: boolean;
  }
  /** A film, in a process of its own. */
  interface FilmMessage {
    job: number;
    frame: number;
    what?: "dive" | "onward" | "places";
    octaves?: number;
    places?: string[];
    times?: number[] | null;
    eases?: ("soft" | "constant" | "in" | "out" | "both" | "hold")[];
    tracks?: Record<string, ((number | string | Table)[] | (number | string | Table | "soft" | "constant" | "in" | "out" | "both" | "hold")[])[]>;
    backwards?: boolean;
    seconds?: number | null;
    fps?: number;
    size?: number[];
    author?: string;
    t: "film";
    format?: "mp4" | "webm" | "webp";
    sound?: string;
    preview?: boolean;
    forecast?: boolean;
    keep?: boolean;
  }
  /** A search in a process of its own. */
  interface Find {
    t: "find";
    job: number;
    what: "nucleus" | "period" | "julia" | "misiurewicz" | "interesting";
    frame: number;
    rect?: number[] | null;
    fraction?: number;
  }
  /** Density and offset that fit a view. */
  interface Fit {
    t: "fit";
    frame: number;
    layer?: number;
    chosen?: boolean;
  }
  /** More messages of a film, for a page that was loaded again. */
  interface Follow {
    t: "follow";
    job: number;
    name: string;
    frame?: number;
  }
  /** More time for a frame. */
  interface GoOn {
    t: "go_on";
    frame: number;
  }
  /** The first message. */
  interface Hello {
    t: "hello";
    v: number;
    size: number[];
    values?: boolean;
    link?: "local" | "remote";
  }
  /** How often values occur in a view. */
  interface Histogram {
    t: "histogram";
    frame: number;
    layer?: number;
    bins?: number;
  }
  /** A preview of the Julia set of a point. */
  interface Julia {
    t: "julia";
    seq: number;
    frame: number;
    at: number[];
    size?: number;
  }
  /** A frame's scene as text. */
  interface Link {
    t: "link";
    frame: number;
    author?: string;
  }
  /** The lookup table of a palette. */
  interface Lookup {
    t: "lookup";
    seq: number;
    palette: string | Table | unknown[];
    inside?: string;
  }
  /** A part of a picture that is not exported yet, about a point of the frame. */
  interface Loupe {
    job: number;
    frame: number;
    size: number[];
    supersampling?: number;
    author?: string;
    t: "loupe";
    at: number[];
    width?: number;
  }
  /** Small pictures of moments of a film that is not made yet. */
  interface Moments {
    job: number;
    frame: number;
    what?: "dive" | "onward" | "places";
    octaves?: number;
    places?: string[];
    times?: number[] | null;
    eases?: ("soft" | "constant" | "in" | "out" | "both" | "hold")[];
    tracks?: Record<string, ((number | string | Table)[] | (number | string | Table | "soft" | "constant" | "in" | "out" | "both" | "hold")[])[]>;
    backwards?: boolean;
    seconds?: number | null;
    fps?: number;
    size?: number[];
    author?: string;
    t: "moments";
    at: number[];
    width?: number;
  }
  /** A frame of another scene. */
  interface Open {
    t: "open";
    frame: number;
    size?: number[] | null;
    base?: number | null;
    scene?: Table | null;
    toml?: string | null;
    link?: string | null;
    gallery?: string | null;
    julia?: At | null;
    formula?: string | Table | null;
  }
  /** Other colors for the newest frame. */
  interface PaintMessage {
    t: "paint";
    seq: number;
    color: Table;
  }
  /** What is under a pixel. */
  interface Pick {
    t: "pick";
    frame: number;
    at: number[];
    full?: boolean;
  }
  /** Small pictures of scenes that are like that of a frame. */
  interface Sheet {
    t: "sheet";
    job: number;
    frame: number;
    scenes: Table[];
    fit?: boolean;
    width?: number;
  }
  /** Twelve scenes like that of a frame. */
  interface Surprise {
    t: "surprise";
    job: number;
    frame: number;
    seed?: number;
    locked?: string[];
  }
  /** A frame that is a move of another. */
  interface ViewMessage {
    t: "view";
    frame: number;
    base: number;
    at?: number[] | null;
    by?: number[];
    scale?: number;
    turn?: number;
    about?: number | null;
    fly?: number[];
    size?: number[] | null;
    stage?: "moving" | "settled";
    focus?: number[] | null;
  }
}

/** A message of the page. */
type Sent =
  | Sent.Bookmark
  | Sent.BookmarksMessage
  | Sent.Cancel
  | Sent.Export
  | Sent.FilmMessage
  | Sent.Find
  | Sent.Fit
  | Sent.Follow
  | Sent.GoOn
  | Sent.Hello
  | Sent.Histogram
  | Sent.Julia
  | Sent.Link
  | Sent.Lookup
  | Sent.Loupe
  | Sent.Moments
  | Sent.Open
  | Sent.PaintMessage
  | Sent.Pick
  | Sent.Sheet
  | Sent.Surprise
  | Sent.ViewMessage;
