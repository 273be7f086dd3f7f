"""Messages of the explorer: JSON from clients, parsed and checked."""

import json
from typing import Annotated, Any, Literal, get_args

from fractals.errors import OptionError, shown
from fractals.scene.checks import JsonSchema, entry
from fractals.scene.film import Ease
from fractals.scene.table import Table, about_of, explained

VERSION = 1
MAX_SMALL, MAX_MESSAGE = 65_536, 262_144  # bytes of a message; of an `open` or `paint`
MAX_SIDE = 4096  # device pixels of a canvas
MAX_EXPORT = 32_768  # pixels of a side
# Messages that hold scenes, palettes, links, signatures or the picture of a leader
LARGE = ("open", "paint", "lookup", "film", "moments", "sheet", "export", "lead")

BEGIN = b"\x78\x01"  # of a stream of zlib
PIECE = 2**16  # least bytes that a thread deflates, in 0.7 ms

Id = Annotated[int, entry(ge=1, lt=2**32)]
Sequence = Annotated[int, entry(ge=1, le=65_535)]
Coordinate = Annotated[int, entry(gt=-(2**20), lt=2**20)]
Pixel = tuple[Coordinate, Coordinate]
Flown = Annotated[int, entry(ge=-36_000, le=36_000)]
Size = tuple[Annotated[int, entry(ge=1, le=MAX_SIDE)], Annotated[int, entry(ge=1, le=MAX_SIDE)]]
FilmSide = Annotated[int, entry(ge=16, le=MAX_SIDE)]
Seconds = Annotated[float, entry(ge=0, le=1800)]
# Parts of a scene, which the scene's own declarations check
SceneTable = Annotated[dict[str, Any], JsonSchema({"$ref": "#/$defs/Scene"})]
ColorTable = Annotated[dict[str, Any], JsonSchema({"$ref": "#/$defs/Color"})]
FormulaValue = Annotated[str | dict[str, Any], JsonSchema({"$ref": "#/$defs/Formula"})]
PaletteValue = Annotated[str | dict[str, Any] | list[Any], JsonSchema({"$ref": "#/$defs/Palette"})]
ExportSide = Annotated[int, entry(ge=1, le=MAX_EXPORT)]
Person = Annotated[int, entry(ge=0, lt=2**32)]  # 0: the leader of a class; others: a guest


class Message(Table):
    """A message of a client; unknown keys are errors."""

    is_strict = True


class Hello(Message):
    """The first message."""

    t: Literal["hello"]
    v: int
    size: Size
    values: bool = True
    link: Literal["local", "remote"] = "local"


class At(Message):
    """A pixel of a frame."""

    frame: Id
    at: Pixel


class Open(Message):
    """A frame of another scene."""

    t: Literal["open"]
    frame: Id
    size: Size | None = None
    base: Id | None = None
    scene: SceneTable | None = None
    toml: str | None = None
    link: str | None = None
    gallery: Annotated[str, entry(max_length=100)] | None = None
    julia: At | None = None
    formula: FormulaValue | None = None
    person: Person | None = None  # of a class: the view of its leader, or of a guest


class ViewMessage(Message):
    """A frame that is a move of another."""

    t: Literal["view"]
    frame: Id
    base: Id
    at: Pixel | None = None
    by: Pixel = (0, 0)
    scale: Annotated[int, entry(ge=-4096, le=4096)] = 0
    turn: Annotated[int, entry(ge=-36_000, le=36_000)] = 0
    about: Id | None = None
    fly: tuple[Flown, Flown, Flown, Flown, Flown] = (0, 0, 0, 0, 0)
    size: Size | None = None
    stage: Literal["moving", "settled"] = "settled"
    focus: Pixel | None = None


class PaintMessage(Message):
    """Other colors for the newest frame."""

    t: Literal["paint"]
    seq: Sequence
    color: ColorTable


class Lookup(Message):
    """The lookup table of a palette."""

    t: Literal["lookup"]
    seq: Id
    palette: PaletteValue
    inside: Annotated[str, entry(max_length=40)] = "#000000"


class Pick(Message):
    """What is under a pixel."""

    t: Literal["pick"]
    frame: Id
    at: Pixel
    full: bool = False


class Julia(Message):
    """A preview of the Julia set of a point."""

    t: Literal["julia"]
    seq: Id
    frame: Id
    at: Pixel
    size: Annotated[int, entry(ge=32, le=512)] = 256


class Fit(Message):
    """Density and offset that fit a view."""

    t: Literal["fit"]
    frame: Id
    layer: Annotated[int, entry(ge=0, le=16)] = 0
    chosen: bool = False  # values that fill half of the palette already stay


class Histogram(Message):
    """How often values occur in a view."""

    t: Literal["histogram"]
    frame: Id
    layer: Annotated[int, entry(ge=0, le=16)] = 0
    bins: Annotated[int, entry(ge=8, le=1024)] = 128


class Find(Message):
    """A search in a process of its own."""

    t: Literal["find"]
    job: Id
    what: Literal["nucleus", "period", "julia", "misiurewicz", "interesting"]
    frame: Id
    rect: tuple[Coordinate, Coordinate, Coordinate, Coordinate] | None = None
    fraction: Annotated[float, entry(gt=0, lt=1)] = 0.75


class Surprise(Message):
    """Twelve scenes like that of a frame."""

    t: Literal["surprise"]
    job: Id
    frame: Id
    seed: Annotated[int, entry(ge=0, lt=2**32)] = 0
    locked: list[Annotated[str, entry(max_length=80)]] = entry([], max_length=100)


class Sheet(Message):
    """Small pictures of scenes that are like that of a frame."""

    t: Literal["sheet"]
    job: Id
    frame: Id
    scenes: Annotated[list[SceneTable], entry(min_length=1, max_length=40)]
    fit: bool = False
    width: Annotated[int, entry(ge=32, le=1024)] = 256


Author = Annotated[str, entry(max_length=200)]  # of a picture that is nobody's yet
RAW_FORMATS = ("npz", "exr")  # of numbers in place of a picture


class ExportKeys(Message):
    """What an exported picture shows."""

    job: Id
    frame: Id
    size: tuple[ExportSide, ExportSide]
    supersampling: Annotated[int, entry(ge=1, le=8)] = 2
    author: Author = ""
    span: Annotated[float, entry(ge=0.01, le=100)] = 1.0  # of the width of the view in the plane


class Loupe(ExportKeys):
    """A part of a picture that is not exported yet, about a point of the frame."""

    t: Literal["loupe"]
    at: Pixel
    width: Annotated[int, entry(ge=32, le=512)] = 256


OnPaper = tuple[Coordinate, Coordinate]  # pixels from the left and the top of the paper
ColorText = Annotated[str, entry(max_length=32)]
MarkSide = Annotated[int, entry(ge=1, le=8192)]


class Signature(Message):
    """A text that the page has drawn: how opaque each of its pixels is."""

    at: OnPaper
    size: tuple[MarkSide, MarkSide]
    mask: Annotated[str, entry(max_length=200_000)]  # base64 of deflated bytes, row by row
    color: ColorText = "#000000"


class PosterPaper(Message):
    """The paper of a poster, in pixels: where its picture lies, and what is around it."""

    size: tuple[ExportSide, ExportSide]
    at: OnPaper = (0, 0)  # of the picture
    color: ColorText = "#ffffff"
    gap: Annotated[int, entry(ge=0, le=8192)] = 0  # between the picture and the line around it
    line: Annotated[int, entry(ge=0, le=8192)] = 0  # its thickness; 0: there is none
    line_color: ColorText = "#000000"
    signature: Signature | None = None


class Export(ExportKeys):
    """A file of a frame, in a process of its own."""

    t: Literal["export"]
    format: Literal["png", "jpg", "webp", "tiff", "html", "npz", "exr"] = "png"
    dpi: Annotated[float, entry(ge=1, le=4800)] | None = None
    paper: PosterPaper | None = None
    forecast: bool = False
    keep: bool = False


TrackName = Annotated[str, entry(max_length=80)]
TrackValue = float | Annotated[str, entry(max_length=80)] | dict[str, Any]  # of palettes: or a name
TrackPoint = tuple[Seconds, TrackValue] | tuple[Seconds, TrackValue, Ease]
TrackPoints = Annotated[list[TrackPoint], entry(min_length=1, max_length=60)]


class FilmKeys(Message):
    """What a film shows."""

    job: Id
    frame: Id
    what: Literal["dive", "onward", "places"] = "dive"
    octaves: Annotated[float, entry(ge=-3000, le=3000)] = 10.0  # that an `onward` zooms in
    places: list[str] = entry([], max_length=60)  # links
    # Seconds of each place, in place of `seconds`
    times: Annotated[list[Seconds], entry(max_length=60)] | None = None
    # How the film comes to each place; of another kind than places, one for the whole way
    eases: list[Ease] = entry([], max_length=60)
    # Values of the scene over time, as of film.tracks: [seconds, value, ease?] as it runs forwards
    tracks: dict[TrackName, TrackPoints] = entry({}, max_length=12)
    backwards: bool = False
    seconds: Annotated[float, entry(ge=0.2, le=1800)] | None = None
    fps: Annotated[int, entry(ge=1, le=60)] = 30
    size: tuple[FilmSide, FilmSide] = (1280, 720)
    author: Author = ""


class FilmMessage(FilmKeys):
    """A film, in a process of its own."""

    t: Literal["film"]
    format: Literal["mp4", "webm", "webp"] = "mp4"
    sound: Annotated[str, entry(max_length=64)] = ""  # of `/sound`
    preview: bool = False
    forecast: bool = False
    keep: bool = False


class Moments(FilmKeys):
    """Small pictures of moments of a film that is not made yet."""

    t: Literal["moments"]
    at: Annotated[list[Seconds], entry(min_length=1, max_length=12)]
    width: Annotated[int, entry(ge=32, le=512)] = 256


class Follow(Message):
    """More messages of a film, for a page that was loaded again."""

    t: Literal["follow"]
    job: Id
    name: Annotated[str, entry(max_length=64)]
    frame: int = 0  # of no use


class Cancel(Message):
    """The end of a job."""

    t: Literal["cancel"]
    job: Id


class Link(Message):
    """A frame's scene as text."""

    t: Literal["link"]
    frame: Id
    author: Author = ""


class GoOn(Message):
    """More time for a frame."""

    t: Literal["go_on"]
    frame: Id


class Bookmark(Message):
    """A bookmark to keep, of a frame or a link; to rename, or to remove; or an order of all."""

    t: Literal["bookmark"]
    frame: Id | None = None
    link: str | None = None
    title: Annotated[str, entry(max_length=200)] = ""
    author: Author = ""
    rename: Annotated[str, entry(pattern=r"^[0-9a-f]{32}$")] | None = None
    remove: Annotated[str, entry(pattern=r"^[0-9a-f]{32}$")] | None = None
    order: Annotated[list[str], entry(max_length=500)] | None = None  # ids, the first on top


class BookmarksMessage(Message):
    """The list of bookmarks."""

    t: Literal["bookmarks"]


MAX_LED, MAX_OWN = 240_000, 48_000  # characters of a leader's picture, and of a guest's


class Lead(Message):
    """What the leader of a class shows to the guests who follow."""

    t: Literal["lead"]
    frame: Id
    picture: Annotated[str, entry(max_length=MAX_LED)]  # a JPEG of the canvas, in base64
    person: Id | None = None  # the guest whose picture it is
    gather: bool = False  # whether guests who explore alone follow again


class GuestMessage(Message):
    """What a guest of a class tells."""

    t: Literal["guest"]
    name: Annotated[str, entry(max_length=200)] | None = None
    following: bool | None = None
    picture: Annotated[str, entry(max_length=MAX_OWN)] | None = None  # a JPEG, in base64


class ClassMessage(Message):
    """What the leader of a class decides; without any key, how the class is."""

    t: Literal["class"]
    lead: bool = False  # whether guests follow this page from now on
    open: bool | None = None  # whether more guests may come in
    remove: Id | None = None  # a guest who has to leave
    renew: bool = False  # whether there is another code


Known = (
    Hello
    | Open
    | ViewMessage
    | PaintMessage
    | Lookup
    | Pick
    | Julia
    | Fit
    | Histogram
    | Find
    | Surprise
    | Sheet
    | Export
    | Loupe
    | FilmMessage
    | Moments
    | Follow
    | Cancel
    | Link
    | GoOn
    | Bookmark
    | BookmarksMessage
    | Lead
    | GuestMessage
    | ClassMessage
)
KINDS: dict[str, type[Message]] = {
    get_args(kind.model_fields["t"].annotation)[0]: kind for kind in get_args(Known)
}


def parse(text: str) -> Any:
    """Return the message in a text, or raise an `OptionError` of one line."""
    if len(text) > MAX_SMALL and not any(f'"{name}"' in text[:200] for name in LARGE):
        raise OptionError(f"a message has at most {MAX_SMALL} bytes")
    try:
        text.encode("utf-8")
        found = json.loads(text)
        if "\\u" in text:  # half of a character may be written so
            json.dumps(found, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise OptionError(f"no message: {shown(error)}") from None
    name = found.get("t") if isinstance(found, dict) else None
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise OptionError(f"no message: 't' is one of {', '.join(KINDS)}")
    try:
        return kind.checked(found)
    except ValueError as error:
        raise OptionError(explained(error, kind)[0], **about_of(error)) from None


def names_of(text: str) -> dict[str, Any]:
    """Return the keys of a bad message that tell its sender which one it was."""
    try:
        table = json.loads(text[:MAX_SMALL])
    except (ValueError, RecursionError):
        return {}
    if not isinstance(table, dict):
        return {}
    kinds = {"t": str, "frame": int, "seq": int, "job": int}
    found = {k: table[k] for k, kind in kinds.items() if type(table.get(k)) is kind}
    return {"re" if k == "t" else k: shown(v, 20) if k == "t" else v for k, v in found.items()}
