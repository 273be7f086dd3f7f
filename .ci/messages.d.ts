// Written by scripts/client_types.py from fractals/explorer/protocol.py and answers.py, and from
// fractals/scene.

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
  /** What the leader of a class decides; without any key, how the class is. */
  interface ClassMessage {
    t: "class";
    lead?: boolean;
    open?: boolean | null;
    remove?: number | null;
    renew?: boolean;
  }
  /** A file of a frame, in a process of its own. */
  interface Export {
    job: number;
    frame: number;
    size: number[];
    supersampling?: number;
    author?: string;
    span?: number;
    t: "export";
    format?: "png" | "jpg" | "webp" | "tiff" | "html" | "npz" | "exr";
    dpi?: number | null;
    paper?: PosterPaper | null;
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
    tracks?: Record<string, ([number, number | string | Record<string, unknown>] | [number, number | string | Record<string, unknown>, "soft" | "constant" | "in" | "out" | "both" | "hold"])[]>;
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
  /** What a guest of a class tells. */
  interface GuestMessage {
    t: "guest";
    name?: string | null;
    following?: boolean | null;
    picture?: string | null;
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
  /** What the leader of a class shows to the guests who follow. */
  interface Lead {
    t: "lead";
    frame: number;
    picture: string;
    person?: number | null;
    gather?: boolean;
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
    palette: Palette;
    inside?: string;
  }
  /** A part of a picture that is not exported yet, about a point of the frame. */
  interface Loupe {
    job: number;
    frame: number;
    size: number[];
    supersampling?: number;
    author?: string;
    span?: number;
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
    tracks?: Record<string, ([number, number | string | Record<string, unknown>] | [number, number | string | Record<string, unknown>, "soft" | "constant" | "in" | "out" | "both" | "hold"])[]>;
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
    scene?: Scene | null;
    toml?: string | null;
    link?: string | null;
    gallery?: string | null;
    julia?: At | null;
    formula?: Formula | null;
    person?: number | null;
  }
  /** Other colors for the newest frame. */
  interface PaintMessage {
    t: "paint";
    seq: number;
    color: Color;
  }
  /** What is under a pixel. */
  interface Pick {
    t: "pick";
    frame: number;
    at: number[];
    full?: boolean;
  }
  /** The paper of a poster, in pixels: where its picture lies, and what is around it. */
  interface PosterPaper {
    size: number[];
    at?: number[];
    color?: string;
    gap?: number;
    line?: number;
    line_color?: string;
    signature?: Signature | null;
  }
  /** Small pictures of scenes that are like that of a frame. */
  interface Sheet {
    t: "sheet";
    job: number;
    frame: number;
    scenes: Scene[];
    fit?: boolean;
    width?: number;
  }
  /** A text that the page has drawn: how opaque each of its pixels is. */
  interface Signature {
    at: number[];
    size: number[];
    mask: string;
    color?: string;
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
  | Sent.ClassMessage
  | Sent.Export
  | Sent.FilmMessage
  | Sent.Find
  | Sent.Fit
  | Sent.Follow
  | Sent.GoOn
  | Sent.GuestMessage
  | Sent.Hello
  | Sent.Histogram
  | Sent.Julia
  | Sent.Lead
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

declare namespace Received {
  /** A bookmark. */
  interface BookmarkFacts {
    id: string;
    title: string;
    link: string;
    thumbnail: string;
  }
  /** The bookmarks, the newest first. */
  interface BookmarkList {
    t: "bookmarks";
    items: BookmarkFacts[];
  }
  /** What there is to choose from: `/catalog.json`. */
  interface Catalog {
    formulas: FormulaFacts[];
    variations: VariationFacts[];
    colorings: ColoringFacts[];
    palettes: PaletteFacts[];
    transfers: string[];
    blends: string[];
    filters: string[];
    curves: string[];
    masks: string[];
    scenes: GalleryScene[];
    schema: SceneSchema;
  }
  /** How a class is. */
  interface ClassOf {
    t: "class";
    address: string;
    code: string;
    open: boolean;
    leads: boolean;
    guests: GuestFacts[];
  }
  /** A coloring of the catalog. */
  interface ColoringFacts {
    name: string;
    title: string;
    meaning: string;
    side: string;
    transfer: string;
    palette: string;
    blend: string;
    derivative: boolean;
    ends: string;
    statistic: boolean;
    options: ColoringOption[];
  }
  /** An option of a coloring. */
  interface ColoringOption {
    name: string;
    type: "int" | "float" | "text" | "choice";
    default: number | string | boolean;
    least: number | null;
    most: number | null;
    meaning: string;
    part: string;
    choices: string[];
  }
  /** Another device draws from now on. */
  interface DeviceMessage {
    t: "device";
    device: string;
    why: string;
  }
  /** A sheet is whole. */
  interface Done {
    t: "done";
    job: number;
  }
  /** A pass of a frame is whole. */
  interface DrawnMessage {
    t: "drawn";
    frame: number;
    paint: number;
    pass: "coarse" | "values" | "finer" | "exact";
    ms: number;
    said?: string;
    max_iterations?: number | null;
    method?: string;
    inside?: number | null;
    least?: number | null;
    most?: number | null;
    note?: string;
  }
  /** A message that could not be followed. */
  interface ErrorMessage {
    code?: "" | "takes_at_most" | "takes_less_than" | "takes_at_least" | "takes_more_than" | "no_minibrot_was_found" | "of_a_julia_set" | "unknown_character" | "unknown_name" | "operand_expected" | "operator_expected" | "sign_expected" | "variable_expected" | "number_too_large" | "formula_too_large" | "unknown_format" | "too_far" | "too_wide" | "is_a_julia_set" | "too_deep" | "of_another_family" | "has_no_julia_sets" | "link_is_damaged";
    key?: string;
    limit?: number | null;
    column?: number | null;
    name?: string;
    t: "error";
    re?: string;
    message: string;
    frame?: number | null;
    seq?: number | null;
    job?: number | null;
  }
  /** A file is there. */
  interface Exported {
    t: "exported";
    job: number;
    url: string;
    bytes: number;
    seconds: number;
    frames?: number | null;
    flashes?: boolean;
    notes?: string[];
    toml?: string;
  }
  /** A job has ended without a result. */
  interface Failed {
    code?: "" | "takes_at_most" | "takes_less_than" | "takes_at_least" | "takes_more_than" | "no_minibrot_was_found" | "of_a_julia_set" | "unknown_character" | "unknown_name" | "operand_expected" | "operator_expected" | "sign_expected" | "variable_expected" | "number_too_large" | "formula_too_large" | "unknown_format" | "too_far" | "too_wide" | "is_a_julia_set" | "too_deep" | "of_another_family" | "has_no_julia_sets" | "link_is_damaged";
    key?: string;
    limit?: number | null;
    column?: number | null;
    name?: string;
    t: "failed";
    job: number;
    message: string;
    cancelled?: boolean;
  }
  /** Density and offset that fit a view. */
  interface Fitted {
    t: "fit";
    frame: number;
    layer: number;
    density: number;
    offset: number;
  }
  /** What an export or a film will take. */
  interface Forecast {
    t: "forecast";
    job: number;
    seconds: number;
    memory: number;
    samples: number;
    method?: string;
    bytes?: number | null;
    frames?: number | null;
    length?: number | null;
    left_out?: number[];
    times?: number[];
    depths?: number[];
    workers?: number | null;
  }
  /** A formula of the catalog. */
  interface FormulaFacts {
    name: string;
    title: string;
    meaning: string;
    group: string;
    options: Record<string, number | string | boolean>;
    meanings: Record<string, string>;
    whole: string[];
    values: boolean;
    exposure: number;
    gamma: number;
    tables?: Record<string, unknown> | null;
    holomorphic?: boolean | null;
    deep?: boolean | null;
  }
  /** What a search has found. */
  interface Found {
    t: "found";
    job: number;
    what: "nucleus" | "period" | "julia" | "misiurewicz" | "interesting";
    period?: number | null;
    center?: string[] | null;
    size?: string | null;
    angle?: number | null;
    scene?: Scene | null;
    octaves?: number | null;
    views?: FoundView[] | null;
  }
  /** An interesting view: the keys of a view, or the camera of a solid. */
  interface FoundView {
    score: number;
    center?: string[] | null;
    width?: string | null;
    zoom?: string | null;
    frame?: string[] | null;
    rotation?: number;
    mirror?: boolean;
    stretch?: number;
    stretch_angle?: number;
    projection?: string;
    camera?: Camera | null;
    way?: number[][];
  }
  /** A scene of the gallery. */
  interface GalleryScene {
    name: string;
    title: string;
    group: "Flat" | "Deep" | "Points" | "Solids";
  }
  /** A guest of a class. */
  interface GuestFacts {
    number: number;
    name: string;
    here: boolean;
    following: boolean;
    picture: number;
  }
  /** How a guest is called. */
  interface GuestOf {
    t: "guest";
    name: string;
  }
  /** How often values occur in a view. */
  interface HistogramMessage {
    t: "histogram";
    frame: number;
    layer: number;
    low: number;
    high: number;
    counts: number[];
  }
  /** An option of a solid, with its range. */
  interface KnobFacts {
    name: string;
    value: number;
    least: number;
    most: number;
    meaning: string;
    whole: boolean;
  }
  /** The layers of a frame, from the bottom. */
  interface LayersMessage {
    t: "layers";
    frame: number;
    paint: number;
    layers: ShownLayer[];
    groups: ShownGroup[];
    planes: number;
  }
  /** The leader of a class shows another picture, or has come or left. */
  interface LedMessage {
    t: "led";
    number: number;
    place: number;
    name: string;
    here: boolean;
    gather?: boolean;
  }
  /** A frame's scene as texts. */
  interface LinkOf {
    t: "link";
    frame: number;
    link: string;
    toml: string;
    command: string;
    others: OtherText[];
  }
  /** A scene as another program reads it. */
  interface OtherText {
    name: string;
    text: string;
    lost: string[];
  }
  /** Other colors are accepted. */
  interface Painted {
    title: string;
    author: string;
    rights: string;
    note: string;
    t: "painted";
    seq: number;
    frame: number;
    values: boolean;
    color: Color;
  }
  /** A palette of the catalog. */
  interface PaletteFacts {
    name: string;
    title: string;
    cyclic: boolean;
    stops: Stops;
  }
  /** A view that has taken much work waits for `go_on`. */
  interface Paused {
    t: "paused";
    frame: number;
    seconds: number;
  }
  /** What is under a pixel. */
  interface Picked {
    t: "picked";
    frame: number;
    at: number[];
    center: string[];
    count: number | null;
    inside: boolean | null;
    value: number | null;
    distance: string | null;
    period: number | null;
    focus: number | null;
  }
  /** Where a new frame lies. */
  interface Placed {
    title: string;
    author: string;
    rights: string;
    note: string;
    t: "placed";
    frame: number;
    base: number | null;
    size: number[];
    center: string[];
    width: string;
    zoom: string;
    octaves: number;
    rotation: number;
    formula: string;
    julia: string[] | null;
    values: boolean;
    plane: number[] | null;
    map: number[] | null;
    camera: Camera | null;
    space: SpaceFacts | null;
    sun: number[] | null;
    scene?: WholeScene | null;
    unused?: string;
  }
  /** How much of a job is done. */
  interface Progress {
    t: "progress";
    job: number;
    what: string;
    done: number;
    of: number;
  }
  /** What the server accepts at most. */
  interface ServerLimits {
    size: number[];
    digits: number;
    stops: number;
  }
  /** How layers that are blended together are laid over what is below. */
  interface ShownGroup {
    blend: "auto" | "normal" | "multiply" | "screen" | "overlay" | "soft_light" | "hard_light" | "add" | "darken" | "lighten" | "difference" | "exclusion";
    opacity: number;
    mask: number | null;
    outer: number | null;
  }
  /** How the values of a layer become colors. */
  interface ShownLayer {
    coloring: string;
    c0: number;
    density: number;
    offset: number;
    cyclic: boolean;
    entries: number;
    space: "linear" | "srgb";
    transfer: string;
    blend: "auto" | "normal" | "multiply" | "screen" | "overlay" | "soft_light" | "hard_light" | "add" | "darken" | "lighten" | "difference" | "exclusion";
    opacity: number;
    mask: number | null;
    group: number | null;
  }
  /** Where the camera of a solid is, complete, and what its controls show. */
  interface SpaceFacts {
    position: number[];
    target: number[];
    up: number[];
    sun: number[];
    palette: Palette;
    samples: number;
    knobs: KnobFacts[];
  }
  /** A film is being made. */
  interface Started {
    t: "started";
    job: number;
    name: string;
  }
  /** What the server does for a frame. */
  interface Status {
    t: "status";
    frame: number;
    what: "preparing" | "compiling" | "reference" | "drawing" | "exact";
    share?: number | null;
    left?: number | null;
    done?: number | null;
    of?: number | null;
  }
  /** One of several scenes; its preview follows. */
  interface Surprised {
    t: "surprised";
    job: number;
    index: number;
    label: string;
    way?: "" | "near_by" | "near_by_in" | "colored_by" | "under_a_layer";
    other?: string;
    scene: Scene;
  }
  /** What is in a file that was sent: a scene, a palette, names to choose, or an error. */
  interface Uploaded {
    code?: "" | "takes_at_most" | "takes_less_than" | "takes_at_least" | "takes_more_than" | "no_minibrot_was_found" | "of_a_julia_set" | "unknown_character" | "unknown_name" | "operand_expected" | "operator_expected" | "sign_expected" | "variable_expected" | "number_too_large" | "formula_too_large" | "unknown_format" | "too_far" | "too_wide" | "is_a_julia_set" | "too_deep" | "of_another_family" | "has_no_julia_sets" | "link_is_damaged";
    key?: string;
    limit?: number | null;
    column?: number | null;
    name?: string;
    scene?: Scene | null;
    palette?: Palette | null;
    entries?: string[][] | null;
    refused?: string[];
    lost?: string[];
    asked?: [string, number | string | boolean, string[], string][];
    unused?: string;
    error?: string;
  }
  /** A variation of flames. */
  interface VariationFacts {
    name: string;
    title: string;
    parameters: Record<string, number>;
  }
  /** What the server is and allows. */
  interface Welcome {
    t: "welcome";
    v: number;
    version: string;
    device: string;
    why?: string;
    title: string;
    gallery: boolean;
    read_only: boolean;
    bookmarks: boolean;
    upload: boolean;
    export: boolean;
    limits: ServerLimits;
    role?: "" | "leader" | "guest";
  }
}

/** A message of the server. */
type Received =
  | Received.BookmarkList
  | Received.ClassOf
  | Received.DeviceMessage
  | Received.Done
  | Received.DrawnMessage
  | Received.ErrorMessage
  | Received.Exported
  | Received.Failed
  | Received.Fitted
  | Received.Forecast
  | Received.Found
  | Received.GuestOf
  | Received.HistogramMessage
  | Received.LayersMessage
  | Received.LedMessage
  | Received.LinkOf
  | Received.Painted
  | Received.Paused
  | Received.Picked
  | Received.Placed
  | Received.Progress
  | Received.Started
  | Received.Status
  | Received.Surprised
  | Received.Welcome;

declare namespace Scenes {
  /** From where a solid is seen. */
  interface Camera {
    position?: number[] | null;
    target?: number[] | null;
    up?: number[] | null;
    field?: number;
    panorama?: boolean;
    stereo?: number;
    eye?: "both" | "left" | "right";
    whole?: string | null;
    roll?: number;
    lens?: number;
    focus?: number | null;
    ray_step?: number;
  }
  /** How raw numbers become colors: the first layer, and the layers over it. */
  interface Color {
    coloring?: Coloring;
    palette?: Palette;
    transfer?: "auto" | "linear" | "sqrt" | "cbrt" | "log" | "atan";
    density?: number;
    offset?: number;
    mask?: "auto" | "escaped" | "inside" | "all";
    range?: number[] | null;
    inside?: string;
    layers?: Paint[];
  }
  /** How linear light becomes a picture. */
  interface Develop {
    exposure?: number | "auto";
    curve?: "auto" | "clip" | "filmic";
    bloom?: number;
    bloom_threshold?: number;
    bloom_radius?: number;
    vignette?: number;
    denoise?: boolean;
    grain?: number;
    dither?: boolean;
  }
  /** How the hits of a scatter image become light: as flam3 shows flames. */
  interface Display {
    brightness?: number;
    gamma?: number | "auto";
    gamma_threshold?: number;
    vibrancy?: number;
    highlight_power?: number;
    background?: string;
    estimator_radius?: number;
    estimator_minimum?: number;
    estimator_curve?: number;
    filter?: string;
    filter_radius?: number;
  }
  /** How a scene moves and changes. */
  interface FilmSettings {
    fps?: number;
    seconds?: number | null;
    loop?: boolean;
    density?: number;
    shutter?: number;
    keys?: Key[];
    tracks?: Record<string, [number, string | string[], "soft" | "constant" | "in" | "out" | "both" | "hold"][] | [number, string | unknown[] | Record<string, unknown>, "soft" | "constant" | "in" | "out" | "both" | "hold"][]>;
    sound?: Sound | null;
  }
  /** Pixels of the picture, samples of a pixel, and how a file keeps them. */
  interface ImageSettings {
    size?: number[];
    supersampling?: number;
    antialias?: "grid" | "jittered" | "adaptive";
    bits?: 8 | 16;
    gamut?: "srgb" | "p3" | "adobe";
    hdr?: boolean;
    dpi?: number | null;
    compression?: "fast" | "small";
  }
  /** When iterating ends: after how many steps, and at which |z|. */
  interface Iteration {
    max_iterations?: number | "auto";
    escape_radius?: number;
    precision?: "auto" | "float64" | "float32" | "double-double";
  }
  /** A view that the film shows at a time. */
  interface Key {
    at?: number | null;
    speed?: number | null;
    center?: string[] | null;
    width?: string | null;
    rotation?: number | null;
    camera?: KeyCamera | null;
    formula?: Formula;
    ease?: "soft" | "constant" | "in" | "out" | "both" | "hold";
  }
  /** The camera of a key; what is left out is that of the key before, or of the scene. */
  interface KeyCamera {
    position?: number[] | null;
    target?: number[] | null;
    field?: number | null;
    roll?: number | null;
    lens?: number | null;
    focus?: number | null;
  }
  /** A paint that is blended over the layers below, in sRGB values, as CSS does. */
  interface Layer {
    coloring?: Coloring;
    palette?: Palette;
    transfer?: "auto" | "linear" | "sqrt" | "cbrt" | "log" | "atan";
    density?: number;
    offset?: number;
    mask?: "auto" | "escaped" | "inside" | "all";
    range?: number[] | null;
    blend?: "auto" | "normal" | "multiply" | "screen" | "overlay" | "soft_light" | "hard_light" | "add" | "darken" | "lighten" | "difference" | "exclusion";
    opacity?: number;
    picture_mask?: PictureMask | null;
  }
  /** Layers, and groups, that are blended with each other, and then as one over what is below. */
  interface LayerGroup {
    blend?: "auto" | "normal" | "multiply" | "screen" | "overlay" | "soft_light" | "hard_light" | "add" | "darken" | "lighten" | "difference" | "exclusion";
    opacity?: number;
    picture_mask?: PictureMask | null;
    layers: Paint[];
  }
  /** What lights a solid, or the landscape of a relief. */
  interface Light {
    sun?: "key" | number[];
    sun_color?: string;
    sun_power?: number;
    sun_size?: number;
    sky?: string[];
    haze?: number;
    gloss?: number;
    emission?: number;
    emission_color?: string;
    emission_at?: number;
    emission_width?: number;
    bounces?: number;
    samples?: number | "auto";
    relight?: boolean;
  }
  /** A picture whose brightness says how much of a layer is drawn: black nothing, white all. */
  interface PictureMask {
    picture: string;
    view?: View | null;
  }
  /** How an escape-time scene becomes a landscape, lit by the light of solids. */
  interface Relief {
    heights?: "none" | "smooth" | "distance";
    rise?: number;
    tilt?: number;
  }
  /** How many points a scatter image has, and which. */
  interface Scatter {
    quality?: number | "draft" | "good" | "best";
    seed?: number;
    steps?: number;
    fuse?: number;
  }
  /** What to draw; every key has a default. */
  interface Scene {
    version?: 1;
    title?: string;
    author?: string;
    rights?: string;
    note?: string;
    formula?: Formula;
    julia?: string[] | null;
    view?: View;
    image?: ImageSettings;
    iteration?: Iteration;
    color?: Color;
    scatter?: Scatter;
    display?: Display;
    relief?: Relief;
    camera?: Camera;
    light?: Light;
    develop?: Develop;
    film?: FilmSettings | null;
  }
  /** Sound from a file, cut to the length of the film. */
  interface Sound {
    file: string;
    start?: number;
  }
  /** Where the picture lies in the plane. */
  interface View {
    center?: string[] | null;
    width?: string | null;
    zoom?: string | null;
    frame?: string[] | null;
    rotation?: number;
    mirror?: boolean;
    stretch?: number;
    stretch_angle?: number;
    projection?: "plane" | "exponential";
  }
}

type Camera = Scenes.Camera;
type Color = Scenes.Color;
type Layer = Scenes.Layer;
type PictureMask = Scenes.PictureMask;
type Scene = Scenes.Scene;
