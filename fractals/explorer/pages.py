"""What the server answers over HTTP: the page, the catalog, thumbnails, uploads, downloads."""

import asyncio
import dataclasses
import functools
import gzip
import hashlib
import inspect
import io
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from fractals import __version__, catalog
from fractals.backends.cache_folder import read_own, reason, write_own
from fractals.color import palette
from fractals.errors import FractalsError, first_line, listed, shown
from fractals.explorer import outside
from fractals.explorer.bookmarks import Bookmarks
from fractals.explorer.classroom import MARK, Classroom
from fractals.explorer.jobs import Jobs
from fractals.explorer.scheduler import IDLE, DrawingTask, Engine, internal, print_line
from fractals.explorer.shown import refinement_of
from fractals.io.foreign import MAX_BYTES
from fractals.kernels.formula import meanings_of
from fractals.rendering import families
from fractals.rendering.drawing import Drawing, draw_tile, open_drawing, pixel_sink
from fractals.rendering.families import family_of, unused
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import make_plan
from fractals.rendering.render import draw_image
from fractals.rendering.tiles import Tile, tiles_within
from fractals.scene.model import Scene
from fractals.scene.paint import Blend, Paint
from fractals.scene.picture import Develop
from fractals.scene.scatter import FILTERS, Display
from fractals.scene.table import Table
from fractals.tools import sheet
from fractals.tools.schema import schema_of

# Small pictures: previews of Julia sets, thumbnails, sheets.


Pixels = NDArray[np.uint8]
SIDE = 256  # pixels of a thumbnail's width
ROWS = 16  # of a tile
MAX_KEPT = 512  # thumbnails in memory
MAX_FILE = 2**22  # bytes of one


def small(scene: Scene, width: int = SIDE, high: int = 0, samples: int = 1) -> Scene:
    """Return a scene at the size of a preview, by default in its own shape."""
    across, down = scene.image.size
    high = high or max(1, min(2 * width, round(width * down / across)))
    update = {"size": (width, high), "supersampling": samples, "antialias": "grid", "bits": 8}
    scene = scene.in_samples()
    return scene.model_copy(update={"image": scene.image.as_srgb().model_copy(update=update)})


def draw_preview(
    engine: Engine, work: DrawingTask, scene: Scene
) -> Generator[float | None, None, Pixels]:
    """Yield after each part of a small picture, and return its pixels."""
    if not family_of(scene).single_pixels:
        return (yield from draw_refined(engine, work, scene))
    backend = engine.backend(scene.iteration.number_type)
    plan = make_plan(scene, backend.kind, threads=backend.threads or 1)

    def watch(_done: int, _all: int) -> None:
        work.check()

    options = RenderOptions(force=True, progress=watch, on_message=lambda line: None)
    whole, (width, height) = plan.layers.whole or scene.develop.bloom > 0, plan.size
    pixels = np.empty((height, width, 3), np.uint8)
    rows = max(ROWS, -(-height // (4 * (backend.threads or 1))))  # one batch: a tile takes 0.03 ms
    tiles = (
        Tile(0, 0, width, min(ROWS, height)),
        *tiles_within(width, range(ROWS, height), width, rows),
    )

    def first(drawing: Drawing) -> None:
        draw_tile(drawing, tiles[0], pixels[tiles[0].window()], work.stale)

    def opened() -> Drawing:
        if not whole:
            return open_drawing(plan, backend, options, first=first)
        drawing = open_drawing(plan, backend, options)
        drawing.source.iterate(tiles[0], stop=work.stale)
        return drawing

    drawing = yield from engine.prepared(work, scene, "picture", opened)
    if whole:
        return draw_image(plan, backend, options).pixels

    for _ in engine.batches(work, drawing, tiles[1:], pixel_sink(drawing, pixels)):
        yield None
    return pixels


def draw_refined(
    engine: Engine, work: DrawingTask, scene: Scene
) -> Generator[float | None, None, Pixels]:
    """Yield after each step of a small picture that becomes finer, and return its last pixels."""
    refinement = refinement_of(engine, work, scene)
    yield from engine.prepared(work, scene, "picture", refinement.prepare)
    pixels: Pixels = np.zeros((1, 1, 3), np.uint8)
    for picture in refinement.pictures():
        pixels = picture.pixels if picture else pixels
        yield None
    return pixels


def png_of(pixels: Pixels) -> bytes:
    """Return the bytes of a PNG."""
    import PIL.Image

    file = io.BytesIO()
    PIL.Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


class Thumbnails:
    """PNGs of small scenes: drawn when the device idles, kept in memory and in a folder."""

    def __init__(self, engine: Engine, folder: Path | None) -> None:
        self.engine, self.folder = engine, folder
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, scene: Scene, found: Callable[[bytes | str], None]) -> None:
        """Call ``found(png)``, at once or later, in any thread; with a line if drawing fails."""
        key = hashlib.sha256(f"{__version__} {scene.to_json()}".encode()).hexdigest()[:32]
        if data := self._read(key):
            found(data)
            return

        def steps(work: DrawingTask) -> Any:
            data = self._read(key)
            if data is None:
                pixels = yield from draw_preview(self.engine, work, scene)
                data = png_of(pixels)
                self._keep(key, data)
            found(data)

        name = (self, key, id(found))
        self.engine.submit(DrawingTask(name, steps, IDLE, failed=lambda line, **about: found(line)))

    def _read(self, key: str) -> bytes | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        if self.folder is None:
            return None
        try:
            data = read_own(self.folder / f"{key}.png", MAX_FILE)
        except OSError:
            return None
        self._remember(key, data)
        return data

    def _keep(self, key: str, data: bytes) -> None:
        self._remember(key, data)
        if self.folder is not None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                write_own(self.folder / f"{key}.png", data)
            except OSError as error:
                self.folder = None
                print_line(f"thumbnails are not kept: {reason(error)}")

    def _remember(self, key: str, data: bytes) -> None:
        with self._lock:
            self._kept[key] = data
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)


CLIENT = Path(__file__).parent / "client"
WRITTEN = ("expression", "program")  # formulas that users write: they have no picture of their own
THUMBNAILS = Path(__file__).parent / "thumbnails"  # made by scripts/thumbnails.py
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
VIDEOS = {".mp4": "video/mp4", ".webm": "video/webm", ".webp": "image/webp"}  # shown by the page
TEXTS = (".css", ".html", ".js", ".json", ".svg", ".webmanifest")  # a quarter when compressed
COMMENT = re.compile(rb"/\*\*.*?\*/", re.DOTALL)  # of JSDoc
DEEP = Decimal("1e13")  # a zoom, beyond which 64-bit numbers do not tell pixels apart
STRIP = (256, 16)  # pixels of a palette's thumbnail
UPLOAD_SECONDS = 20.0
MAX_ARRIVING = 4 * MAX_BYTES  # of all uploads together; slow ones hold little
KEEP = {"cache-control": "private, max-age=86400"}
FRESH = {"cache-control": "no-cache"}


@functools.cache
def client_files() -> dict[str, Path]:
    """Return the files of the page, by the only names under which they are served."""
    files = [path for path in CLIENT.rglob("*") if path.is_file() and path.suffix in TYPES]
    return {path.relative_to(CLIENT).as_posix(): path for path in files}


@functools.cache
def thumbnail_files() -> dict[tuple[str, str], Path]:
    """Return the pictures in the package by kind and name; others are drawn when asked for."""
    return {(path.parent.name, path.stem): path for path in THUMBNAILS.glob("*/*.webp")}


def formula_scene(name: str) -> Scene:
    """Return the scene of a formula's thumbnail."""
    if catalog.has("solid", name):
        return Scene().replace(formula=name, samples=4, size=(256, 144))
    return Scene().replace(formula=name, zoom=0.75, size=(256, 144))


def _meaning(made: Any) -> str:
    """Return the line that says what a formula or a coloring is: its own, or that of its module."""
    own, _, _ = (inspect.getdoc(made) or "").partition("\n\n")
    own = re.sub(r"Return the .*?\.(\s+|$)", "", own, flags=re.DOTALL)
    whole = getattr(inspect.getmodule(made), "__doc__", "") or ""
    return re.sub(r"\s+", " ", own or whole.partition("\n\n")[0]).replace("`", "").strip()


def _order(title: str) -> str:
    """Return what a title is sorted by: its words in small letters, without an article."""
    return re.sub(r"^(the|an?) ", "", title.lower())


def _coloring_facts(name: str) -> dict[str, Any]:
    make = catalog.load("coloring", name)
    coloring = make()
    kinds = {int: "int", float: "float", str: "text"}
    options = [
        {
            "name": key,
            "type": "choice" if option.choices else kinds[type(option.default)],
            **option._asdict(),
            "choices": list(option.choices),
        }
        for key, option in coloring.options.items()
    ]
    keys = ("name", "title", "side", "transfer", "palette", "blend", "derivative", "ends")
    facts = {key: getattr(coloring, key) for key in keys}
    facts |= {"statistic": bool(coloring.statistic), "meaning": _meaning(make)}
    return {**facts, "options": options}


def _formula_facts(name: str) -> dict[str, Any]:
    make = catalog.load_formula(name)
    formula = make()
    options = formula.parameters.items()
    facts = {
        "name": name,
        "title": formula.title,
        "meaning": _meaning(make),
        "group": getattr(formula, "group", "Others"),
        "options": {key: _plain(value) for key, value in options},
        "meanings": meanings_of(make),
        "whole": [key for key, value in options if type(value) is int],
        "values": families.load(formula.family).single_pixels,
        "exposure": Develop().usual(formula.family)[0],
        "gamma": Display().usual_gamma(getattr(formula, "method", "")),
    }
    usual = {key: given.default for key, given in inspect.signature(make).parameters.items()}
    if tables := {key: value for key, value in usual.items() if isinstance(value, tuple)}:
        facts["tables"] = tables
    for key in ("holomorphic", "perturbed"):
        if hasattr(formula, key):
            facts |= {"deep" if key == "perturbed" else key: bool(getattr(formula, key))}
    return facts


def _words(table: type[Table], key: str) -> tuple[str, ...]:
    """Return the words that a key of a scene takes."""
    return get_args(table.model_fields[key].annotation)


def catalog_table() -> dict[str, Any]:
    """Return the catalog, as of PROTOCOL.md."""
    variations = [
        {"name": name, "title": made.title, "parameters": dict(made.parameters)}
        for name in catalog.names("variation")
        for made in [catalog.load("variation", name)()]
    ]
    colors = [
        {"name": name, "title": found.title, "cyclic": found.cyclic, "stops": found.stops}
        for name in catalog.names("palette")
        for found in [palette.load(name)]
    ]
    scenes = [
        {"name": name, "title": table.get("title", name), "group": group_of(table)}
        for name in catalog.names("gallery")
        for table in [catalog.read("gallery", name)]
    ]
    return {
        "formulas": [_formula_facts(name) for name in formula_names() if name not in WRITTEN],
        "variations": variations,
        "colorings": [_coloring_facts(name) for name in catalog.names("coloring")],
        "palettes": colors,
        "transfers": _words(Paint, "transfer"),
        "blends": get_args(Blend),
        "filters": list(FILTERS),
        "curves": _words(Develop, "curve"),
        "masks": _words(Paint, "mask"),
        "scenes": sorted(scenes, key=lambda each: _order(each["title"])),
        "schema": schema_of(Scene),
    }


def group_of(table: dict[str, Any]) -> str:
    """Return under which word the gallery shows a scene: "Flat", "Deep", "Points" or "Solids"."""
    scene = outside.scene_of(table)
    if scene.family == "scatter":
        return "Points"
    if scene.family in ("solid", "relief"):
        return "Solids"
    narrow = scene.view.width and Decimal(scene.view.width) < 1 / DEEP
    return "Deep" if narrow or (scene.view.zoom and Decimal(scene.view.zoom) > DEEP) else "Flat"


def formula_names() -> list[str]:
    """Return the names of the formulas of all families."""
    return [name for kind in catalog.FORMULAS for name in catalog.names(kind)]


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | str | bool) else str(value)


@functools.cache
def _catalog_bytes() -> bytes:
    return json.dumps(catalog_table()).encode()


@dataclasses.dataclass
class Pages:
    """The routes of a server."""

    read_only: bool  # whether files are refused
    thumbnails: Thumbnails
    jobs: Jobs
    bookmarks: Bookmarks
    classroom: Classroom | None = None
    arriving: int = 0
    uploads: asyncio.Semaphore = dataclasses.field(default_factory=lambda: asyncio.Semaphore(2))

    def routes(self) -> list[Route]:
        """Return them all; each name is looked up in a list, and none is a path of a file."""
        return [
            Route("/", self.page),
            Route("/client/{name:path}", self.file),
            Route("/catalog.json", self.catalog),
            Route("/thumbnail/{kind}/{name}", self.thumbnail),
            Route("/bookmark/{name}.png", self.bookmark),
            Route("/download/{name}/{file}", self.download),
            Route("/upload", self.upload, methods=["POST"]),
            Route("/class/{number:int}.jpg", self.person),
            Route("/class/code.svg", self.code),
        ]

    async def page(self, request: Request) -> Response:
        """Answer the page."""
        return _file("index.html", request)

    async def file(self, request: Request) -> Response:
        """Answer a file of the page."""
        return _file(request.path_params["name"], request)

    async def catalog(self, request: Request) -> Response:
        """Answer what there is to choose from."""
        data = await asyncio.to_thread(_catalog_bytes)
        packed = await asyncio.to_thread(_packed, data)
        return _answer(request, data, packed, ".json")

    async def thumbnail(self, request: Request) -> Response:
        """Answer a small picture of a gallery scene, a formula or a palette."""
        kind, name = request.path_params["kind"], request.path_params["name"]
        kinds = {"scene": "gallery", "formula": "formula", "palette": "palette"}
        known = formula_names() if kind == "formula" else catalog.names(kinds.get(kind, "gallery"))
        if name not in known or kind not in kinds:
            return Response(status_code=404)
        if kind == "palette":
            colors = sheet.turn(name, STRIP[0])
            row = np.ascontiguousarray(np.broadcast_to(colors, (STRIP[1], STRIP[0], 3)))
            return Response(png_of(row), media_type="image/png", headers=KEEP)
        if made := thumbnail_files().get((kind, name)):
            return Response(made.read_bytes(), media_type="image/webp", headers=KEEP)
        if kind == "scene":
            return await self._drawn(outside.scene_of(catalog.read("gallery", name)))
        return await self._drawn(formula_scene(name))

    async def bookmark(self, request: Request) -> Response:
        """Answer a small picture of a bookmark."""
        scene = self.bookmarks.find(request.path_params["name"])
        return await self._drawn(scene) if scene else Response(status_code=404)

    async def _drawn(self, scene: Scene) -> Response:
        found = await drawn(self.thumbnails, small(scene, samples=2))
        if isinstance(found, str):
            return Response(found, status_code=503, media_type="text/plain")
        return Response(found, media_type="image/png", headers=KEEP)

    async def person(self, request: Request) -> Response:
        """Answer the newest picture of a person of a class."""
        number, visitor = request.path_params["number"], request.scope["visitor"]
        data = self.classroom.picture(number, visitor) if self.classroom else b""
        if not data:
            return Response(status_code=404)
        return Response(data, media_type="image/jpeg", headers={"cache-control": "no-store"})

    async def code(self, request: Request) -> Response:
        """Answer the address at which guests come in, for cameras of phones; to leaders only."""
        guest = request.scope["visitor"].startswith(MARK)
        data = self.classroom.qr_code() if self.classroom and not guest else b""
        if not data:
            return Response(status_code=404)
        return Response(data, media_type=TYPES[".svg"], headers={"cache-control": "no-store"})

    async def download(self, request: Request) -> Response:
        """Answer an exported file."""
        kept = self.jobs.files.get(request.path_params["name"])
        if kept is None or not kept.path.is_file():
            return Response(status_code=404)
        name = f"fractal{kept.path.suffix}"
        kind = VIDEOS.get(kept.path.suffix, "application/octet-stream")
        return FileResponse(kept.path, filename=name, media_type=kind)

    async def upload(self, request: Request) -> Response:
        """Answer the scene, or the palette, in a file's bytes."""
        if self.read_only:
            return JSONResponse({"error": "this server is read-only"}, status_code=403)
        length = request.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > MAX_BYTES:
            error = f"a file has at most {MAX_BYTES // 2**20} MiB"
            return JSONResponse({"error": error}, status_code=413)
        data, about = bytearray(), dict[str, Any]()
        try:
            async with asyncio.timeout(UPLOAD_SECONDS):
                async for piece in request.stream():
                    data += piece
                    self.arriving += len(piece)
                    if len(data) > MAX_BYTES:
                        return Response(status_code=413)
                    if self.arriving > MAX_ARRIVING:
                        error = "others send files at the moment: try again"
                        return JSONResponse({"error": error}, status_code=503)
            async with self.uploads:
                name, entry = (request.query_params.get(key, "")[:300] for key in ("name", "entry"))
                return JSONResponse(await asyncio.to_thread(uploaded, name, bytes(data), entry))
        except TimeoutError:
            error = f"the file did not arrive within {UPLOAD_SECONDS:.0f} s"
            return JSONResponse({"error": error}, status_code=408)
        except FractalsError as error:
            line, about = first_line(error), error.about
        except ClientDisconnect:
            line = "the file is cut off"
        except Exception as error:
            line = internal(error)
        finally:
            self.arriving -= len(data)
        return JSONResponse({"error": line, **about}, status_code=400)


def uploaded(name: str, data: bytes, entry: str = "") -> dict[str, Any]:
    """Return the answer to an upload: a scene's whole table, a palette's, or names to choose."""
    if not entry and (entries := outside.entries_of(name, data)):
        refused = [entry for entry, about in entries if about.startswith("unsupported: ")]
        return {"entries": entries, "refused": refused}
    found = outside.read_upload(name, data, entry)
    table, lost = found.table, [shown(line) for line in listed(found.lost)]
    scene = outside.scene_of(table)
    if table.keys() == {"color"} and not table["color"].keys() - {"palette", "inside"}:
        return {"palette": scene.to_table()["color"]["palette"], "lost": lost}
    asked = [(each.name, each.value, each.choices, each.title) for each in found.asked]
    return {"scene": scene.to_table(), "lost": lost, "asked": asked, "unused": unused(scene)}


async def drawn(thumbnails: Thumbnails, scene: Scene) -> bytes | str:
    """Wait for a thumbnail: a PNG, or a line about an error."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    result: list[bytes | str] = []

    def found(data: bytes | str) -> None:
        result.append(data)
        loop.call_soon_threadsafe(done.set)

    await asyncio.to_thread(thumbnails.find, scene, found)
    await done.wait()
    return result[0]


def bare(data: bytes) -> bytes:
    """Return a module without its types and comments, which no browser needs; lines stay.

    >>> bare(b"/** A sum. */\\nconst sum = (/** @type {number} */ a) => a; // one")
    b'\\nconst sum = ( a) => a;'
    >>> bare(b'const text = "a // b"; // said\\nhtml`<p> // \\n// </p>`')
    b'const text = "a // b"; // said\\nhtml`<p> // \\n// </p>`'
    """
    lines, inside = [], False  # inside: a template goes on
    for line in COMMENT.sub(lambda found: b"\n" * found[0].count(b"\n"), data).split(b"\n"):
        code, mark, _ = line.partition(b"// ")
        whole = code.count(b'"') % 2 == code.count(b"`") % 2 == 0 and code[-1:].strip() == b""
        lines.append(code.rstrip() if mark and whole and not inside else line)
        inside ^= lines[-1].count(b"`") % 2 == 1
    return b"\n".join(lines)


def client_bytes(name: str) -> bytes | None:
    """Return a file of the page as it is sent; None: there is no such file."""
    path = client_files().get(name)
    if path is None:
        return None
    data = path.read_bytes()
    return bare(data) if path.suffix == ".js" and not name.startswith("lib/") else data


def _file(name: str, request: Request) -> Response:
    data, suffix = client_bytes(name), Path(name).suffix
    if data is None:
        return Response(status_code=404)
    return _answer(request, data, _packed(data) if suffix in TEXTS else None, suffix)


@functools.lru_cache(maxsize=256)  # all files of the page; of an edited one the newest, too
def _packed(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def _answer(request: Request, data: bytes, packed: bytes | None, suffix: str) -> Response:
    """Answer text, compressed for a client that says that it takes it."""
    headers = FRESH
    if packed is not None:
        headers = FRESH | {"vary": "accept-encoding"}
        if takes_gzip(request.headers.get("accept-encoding", "")):
            data, headers = packed, headers | {"content-encoding": "gzip"}
    return Response(data, media_type=TYPES[suffix], headers=headers)


def takes_gzip(accepted: str) -> bool:
    """Tell whether a header Accept-Encoding names gzip, with a weight above 0 (RFC 9110).

    >>> takes_gzip("br, gzip;q=0.5"), takes_gzip("gzip;q=0, *"), takes_gzip("identity")
    (True, False, False)
    """
    for each in accepted.lower().split(","):
        name, *rest = (part.strip() for part in each.split(";"))
        if name == "gzip":
            return not any(re.fullmatch(r"q=0(\.0*)?", part) for part in rest)
    return False
