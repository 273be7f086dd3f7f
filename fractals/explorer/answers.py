"""What the explorer's server says: its text messages, the catalog, and answers to uploads.

These declarations become the types of the page (`scripts/client_types.py`), and the tests' client
checks every message by them.
"""

from typing import Annotated, Any, Literal, get_args

from fractals.explorer.protocol import ColorTable, Message, PaletteValue, SceneTable
from fractals.scene.checks import JsonSchema, entry
from fractals.scene.paint import Blend

Text2 = tuple[str, str]  # a point of the plane, in all its digits
Point3 = tuple[float, float, float]
Map = tuple[float, float, float, float, float, float]
CameraTable = Annotated[dict[str, Any], JsonSchema({"$ref": "#/$defs/Camera"})]
StopList = Annotated[list[Any], JsonSchema({"$ref": "#/$defs/Stops"})]
WholeTable = Annotated[dict[str, Any], JsonSchema({"$ref": "#/$defs/WholeScene"})]
SchemaTable = Annotated[dict[str, Any], JsonSchema({"$ref": "#/$defs/SceneSchema"})]
Option = float | str | bool


class Meant(Message):
    """What a line about an error means, for a page that says it in its own language."""

    code: Literal[
        "",
        "takes_at_most",
        "takes_less_than",
        "takes_at_least",
        "takes_more_than",
        "no_minibrot_was_found",
        "of_a_julia_set",
        "unknown_character",
        "unknown_name",
        "operand_expected",
        "operator_expected",
        "sign_expected",
        "variable_expected",
        "number_too_large",
        "formula_too_large",
        "unknown_format",
        "too_far",
        "too_wide",
        "is_a_julia_set",
        "too_deep",
        "of_another_family",
        "has_no_julia_sets",
        "link_is_damaged",
    ] = ""
    key: str = ""  # of the wrong value
    limit: float | None = None  # that it lies beyond
    column: int | None = None  # of the place in a text, from 1
    # What is unknown, the sign that is expected, ends of files' names, a length, or a formula
    name: str = ""


class ServerLimits(Message):
    """What the server accepts at most."""

    size: tuple[int, int]
    digits: int
    stops: int


class Welcome(Message):
    """What the server is and allows."""

    t: Literal["welcome"]
    v: int
    version: str
    device: str
    why: str = ""
    title: str
    gallery: bool
    read_only: bool
    bookmarks: bool
    upload: bool
    export: bool
    limits: ServerLimits
    role: Literal["", "leader", "guest"] = ""


class DeviceMessage(Message):
    """Another device draws from now on."""

    t: Literal["device"]
    device: str
    why: str


class KnobFacts(Message):
    """An option of a solid, with its range."""

    name: str
    value: float
    least: float
    most: float
    meaning: str
    whole: bool


class SpaceFacts(Message):
    """Where the camera of a solid is, complete, and what its controls show."""

    position: Point3
    target: Point3
    up: Point3
    sun: Point3
    palette: PaletteValue
    samples: int
    knobs: list[KnobFacts]


class Credits(Message):
    """What is said of a picture."""

    title: str
    author: str
    rights: str
    note: str


class Placed(Credits):
    """Where a new frame lies."""

    t: Literal["placed"]
    frame: int
    base: int | None
    size: tuple[int, int]
    center: Text2
    width: str
    zoom: str
    octaves: float
    rotation: float
    formula: str
    julia: Text2 | None
    values: bool
    plane: Map | None
    map: Map | None
    camera: CameraTable | None
    space: SpaceFacts | None
    sun: Point3 | None
    scene: WholeTable | None = None
    unused: str = ""


class Status(Message):
    """What the server does for a frame."""

    t: Literal["status"]
    frame: int
    what: Literal["preparing", "compiling", "reference", "drawing", "exact"]
    share: float | None = None
    left: float | None = None
    done: int | None = None
    of: int | None = None


class ShownLayer(Message):
    """How the values of a layer become colors."""

    coloring: str
    c0: float
    density: float
    offset: float
    cyclic: bool
    entries: int
    space: Literal["linear", "srgb"]
    transfer: str
    blend: Blend
    opacity: float
    mask: int | None
    group: int | None


class ShownGroup(Message):
    """How layers that are blended together are laid over what is below."""

    blend: Blend
    opacity: float
    mask: int | None
    outer: int | None


class LayersMessage(Message):
    """The layers of a frame, from the bottom."""

    t: Literal["layers"]
    frame: int
    paint: int
    layers: list[ShownLayer]
    groups: list[ShownGroup]
    planes: int


class DrawnMessage(Message):
    """A pass of a frame is whole."""

    t: Literal["drawn"]
    frame: int
    paint: int
    pass_: Literal["coarse", "values", "finer", "exact"]  # sent as "pass", which Python has taken
    ms: float
    said: str = ""
    max_iterations: int | None = None
    method: str = ""
    inside: float | None = None
    least: int | None = None
    most: int | None = None
    note: str = ""


class Paused(Message):
    """A view that has taken much work waits for `go_on`."""

    t: Literal["paused"]
    frame: int
    seconds: int


class Painted(Credits):
    """Other colors are accepted."""

    t: Literal["painted"]
    seq: int
    frame: int
    values: bool
    color: ColorTable


class Picked(Message):
    """What is under a pixel."""

    t: Literal["picked"]
    frame: int
    at: tuple[int, int]
    center: Text2
    count: int | None
    inside: bool | None
    value: float | None
    distance: str | None
    period: int | None
    focus: float | None


class Fitted(Message):
    """Density and offset that fit a view."""

    t: Literal["fit"]
    frame: int
    layer: int
    density: float
    offset: float


class HistogramMessage(Message):
    """How often values occur in a view."""

    t: Literal["histogram"]
    frame: int
    layer: int
    low: float
    high: float
    counts: list[int]


class Progress(Message):
    """How much of a job is done."""

    t: Literal["progress"]
    job: int
    what: str
    done: int
    of: int


class FoundView(Message):
    """An interesting view: the keys of a view, or the camera of a solid."""

    score: float
    center: Text2 | None = None
    width: str | None = None
    zoom: str | None = None
    frame: Text2 | None = None
    rotation: float = 0.0
    mirror: bool = False
    stretch: float = 1.0
    stretch_angle: float = 0.0
    projection: str = ""
    camera: CameraTable | None = None
    way: list[list[float]] = entry([])  # positions and targets of the camera


class Found(Message):
    """What a search has found."""

    t: Literal["found"]
    job: int
    what: Literal["nucleus", "period", "julia", "misiurewicz", "interesting"]
    period: int | None = None
    center: Text2 | None = None
    size: str | None = None
    angle: float | None = None
    scene: SceneTable | None = None
    octaves: float | None = None
    views: list[FoundView] | None = None


class Surprised(Message):
    """One of several scenes; its preview follows."""

    t: Literal["surprised"]
    job: int
    index: int
    label: str  # a name, which "way" makes the whole of
    way: Literal["", "near_by", "near_by_in", "colored_by", "under_a_layer"] = ""
    other: str = ""  # of "colored_by" and "under": a coloring
    scene: SceneTable


class Forecast(Message):
    """What an export or a film will take."""

    t: Literal["forecast"]
    job: int
    seconds: float
    memory: float
    samples: float
    method: str = ""
    bytes: float | None = None
    frames: int | None = None
    length: float | None = None
    left_out: list[int] = entry([])
    times: list[float] = entry([])
    depths: list[float] = entry([])
    workers: int | None = None


class Started(Message):
    """A film is being made."""

    t: Literal["started"]
    job: int
    name: str


class Exported(Message):
    """A file is there."""

    t: Literal["exported"]
    job: int
    url: str
    bytes: int
    seconds: float
    frames: int | None = None
    flashes: bool = False
    notes: list[str] = entry([])
    toml: str = ""


class Done(Message):
    """A sheet is whole."""

    t: Literal["done"]
    job: int


class Failed(Meant):
    """A job has ended without a result."""

    t: Literal["failed"]
    job: int
    message: str
    cancelled: bool = False


class OtherText(Message):
    """A scene as another program reads it."""

    name: str
    text: str
    lost: list[str]


class LinkOf(Message):
    """A frame's scene as texts."""

    t: Literal["link"]
    frame: int
    link: str
    toml: str
    command: str
    others: list[OtherText]


class BookmarkFacts(Message):
    """A bookmark."""

    id: str
    title: str
    link: str
    thumbnail: str


class BookmarkList(Message):
    """The bookmarks, the newest first."""

    t: Literal["bookmarks"]
    items: list[BookmarkFacts]


class ErrorMessage(Meant):
    """A message that could not be followed."""

    t: Literal["error"]
    re: str = ""
    message: str
    frame: int | None = None
    seq: int | None = None
    job: int | None = None


class LedMessage(Message):
    """The leader of a class shows another picture, or has come or left."""

    t: Literal["led"]
    number: int
    place: int
    name: str
    here: bool
    gather: bool = False


class GuestFacts(Message):
    """A guest of a class."""

    number: int
    name: str
    here: bool
    following: bool
    picture: int


class GuestOf(Message):
    """How a guest is called."""

    t: Literal["guest"]
    name: str


class ClassOf(Message):
    """How a class is."""

    t: Literal["class"]
    address: str
    code: str
    open: bool
    leads: bool
    guests: list[GuestFacts]


Said = (
    Welcome
    | DeviceMessage
    | Placed
    | Status
    | LayersMessage
    | DrawnMessage
    | Paused
    | Painted
    | Picked
    | Fitted
    | HistogramMessage
    | Progress
    | Found
    | Surprised
    | Forecast
    | Started
    | Exported
    | Done
    | Failed
    | LinkOf
    | BookmarkList
    | LedMessage
    | GuestOf
    | ClassOf
    | ErrorMessage
)
SAID: dict[str, type[Message]] = {
    get_args(kind.model_fields["t"].annotation)[0]: kind for kind in get_args(Said)
}


class FormulaFacts(Message):
    """A formula of the catalog."""

    name: str
    title: str
    meaning: str
    group: str
    options: dict[str, Option]
    meanings: dict[str, str]
    whole: list[str]
    values: bool
    exposure: float
    gamma: float
    tables: dict[str, Any] | None = None
    holomorphic: bool | None = None
    deep: bool | None = None


class VariationFacts(Message):
    """A variation of flames."""

    name: str
    title: str
    parameters: dict[str, float]


class ColoringOption(Message):
    """An option of a coloring."""

    name: str
    type: Literal["int", "float", "text", "choice"]
    default: Option
    least: float | None
    most: float | None
    meaning: str
    part: str
    choices: list[str]


class ColoringFacts(Message):
    """A coloring of the catalog."""

    name: str
    title: str
    meaning: str
    side: str
    transfer: str
    palette: str
    blend: str
    derivative: bool
    ends: str
    statistic: bool
    options: list[ColoringOption]


class PaletteFacts(Message):
    """A palette of the catalog."""

    name: str
    title: str
    cyclic: bool
    stops: StopList


class GalleryScene(Message):
    """A scene of the gallery."""

    name: str
    title: str
    group: Literal["Flat", "Deep", "Points", "Solids"]


class Catalog(Message):
    """What there is to choose from: `/catalog.json`."""

    formulas: list[FormulaFacts]
    variations: list[VariationFacts]
    colorings: list[ColoringFacts]
    palettes: list[PaletteFacts]
    transfers: list[str]
    blends: list[str]
    filters: list[str]
    curves: list[str]
    masks: list[str]
    scenes: list[GalleryScene]
    schema: SchemaTable


class Uploaded(Meant):
    """What is in a file that was sent: a scene, a palette, names to choose, or an error."""

    scene: SceneTable | None = None
    palette: PaletteValue | None = None
    entries: list[tuple[str, str]] | None = None
    refused: list[str] = entry([])  # names of entries that can't be drawn
    lost: list[str] = entry([])
    asked: list[tuple[str, Option, list[str], str]] = entry([])
    unused: str = ""
    error: str = ""
