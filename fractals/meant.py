"""What people type first, by habits of other programs and libraries, and what they mean by it.

A table for each kind of name; messages about unknown names look here before they look for the
nearest known one. An attribute that is not there is an `AttributeError`.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from fractals.catalog import did_you_mean


def _by_word(said: Mapping[str, str]) -> dict[str, str]:
    """Return what is said by word, of a table by words with blanks between."""
    return {word: text for words, text in said.items() for word in words.split()}


def _synonyms(of: Mapping[str, str]) -> dict[str, str]:
    """Return the names by word, of a table of words with blanks between by name."""
    return _by_word({words: name for name, words in of.items()})


# Keys of a scene and options, by words of other programs. An unknown word is looked up here first.
SYNONYMS = _synonyms(
    {
        "antialias": "antialiasing",
        "author": "artist creator signature",
        "bits": "depth",
        "center": "x",
        "escape_radius": "bailout radius",
        "field": "fov",
        "formula": "fractal",
        "inside": "background",
        "max_iterations": "iter iterations iters limit max_iter maxiter n_iter",
        "palette": "cmap color colormap colors colour",
        "precision": "dtype float number",
        "rights": "copyright licence license",
        "rotation": "angle rotate",
        "size": "height resolution shape",
        "supersampling": "aa msaa oversampling ssaa supersample",
        "threads": "jobs n_jobs n_threads num_threads parallel workers",
        "title": "caption name",
        "zoom": "magnification scale",
    }
)
# Options of the command line alone.
OPTIONS = SYNONYMS | _synonyms(
    {
        "at": "pixel",
        "audio": "music song sound",
        "output": "file out",
        "pan": "move",
        "quiet": "silent",
    }
)
# What to give in Python in place of a keyword, where a name does not say enough.
KEYWORDS = _by_word(
    {
        "audio music song sound": "film.save(path, sound='song.flac')",
        "backend": "device='cpu', 'gpu' or another",
        "c": "julia=(x, y)",
        "cpu": "device='cpu'",
        "gpu cuda use_gpu": "device='gpu'",
        "dtype": "precision='float32' or 'float64'",
        "height resolution shape": "size=(width, height) in pixels; width is that of the view",
        "chunks": "fractals.compute_to(path, ...), which computes tile by tile",
        "dx dy pixel step": "width=..., and size=(width, height) in pixels",
        "period": "coloring='period'; fractals.find_nucleus returns the lowest period in a view",
        "points coords": (
            "fractals.compute_points(points), or for a grid center=(x, y), width=..."
        ),
        "fields planes variables": "coloring=..., for which what it needs is computed",
        "smooth": "coloring='smooth'",
        "verbose": "progress=True",
        "extent bounds xlim ylim xmin xmax ymin ymax": "center=(x, y) and width=...",
        "filename format out output path": (
            "fractals.render_to(path, ...), or save(path) of what is returned"
        ),
    }
)
# Keys of tables of a scene, which are looked up where a table has the key.
KEYS = _synonyms(
    {
        "blend": "blend_mode blending mode",
        "ease": "curve easing interpolation",
        "opacity": "alpha transparency",
        "at": "second seconds t time",
        "rotation": "angle",
    }
)
# What to say where a key takes words, and another value was given.
WORDS = {
    "antialias": "supersampling=N is the number of samples",
    "gamut": "hdr=True has the gamut of BT.2020",
    "precision": "views of any depth are exact with the digits of their center",
}
# Verbs of the command line.
VERBS = _synonyms(
    {
        "convert": "export",
        "film": "animate animation movie video",
        "learn": "lesson lessons teach tutorial",
        "list": "ls palette palettes",
        "recolor": "color colour",
        "render": "draw html page picture poster zoom",
        "sheet": "compare sweep",
        "show": "info",
        "--version": "version",
        "verify": "test",
    }
)
# Functions by the files that they are for, where another one was called.
WRITERS = _synonyms(
    {
        "render": ".png .jpg .jpeg .webp .tif .tiff .avif .ppm .html",
        "compute": ".fz .npz .exr",
        "film": ".mp4 .mov .mkv .webm .gif",
        "save_scene": ".toml .json",
        "trace": ".svg",
    }
)
# Those that are no functions.
ONLY_VERBS = (
    *("bench", "cache", "convert", "gallery", "gpu", "learn", "proof", "sheet", "surprise"),
    "tiles",
)

_AT_POINTS = "fractals.compute_points computes the numbers of a list of points"
_DRAWN = "fractals.render draws a scene, such as fractals.render('seahorse')"
_RECOLORED = "fractals.recolor(raw) returns its picture"
_BY_COLORING = "raw.values(COLORING) has the numbers, and fractals.recolor draws it"
_PLACES = "raw.extent has the edges, and raw.to_xarray() the position of each sample"
_ARRAYS = "raw.count is the array of counts, and raw.planes has all arrays by name"
_PIXELS = "image.pixels is the array of pixels"
_REPLACED = "scene.replace(KEY=VALUE) returns another scene"

_SAID = {
    "fractals": {
        "animate animation dive movie video zoom": "fractals.film makes films",
        "area": "fractals.compute(...).inside.mean() is the share of the view that is inside",
        "cmap cmaps colormap colormaps colors palette palettes": (
            "fractals.names('palettes') lists them; palette='ember' is a keyword"
        ),
        "colorings": "fractals.names('colorings') lists them",
        "config options settings": "options are keywords; help(fractals.render) lists them",
        "create draw generate imshow julia mandelbrot Julia Mandelbrot picture plot": _DRAWN,
        "distance escape_time external_angle iterate iterations orbit period point points": (
            _AT_POINTS
        ),
        "explorer gui ui view": "fractals.explore shows a scene in the browser",
        "find minibrot minibrots nucleus periods": (
            "fractals.find_nucleus returns the minibrot of the lowest period in a view"
        ),
        "formula fractal": (
            "fractals.names('formulas') lists them; formula='multibrot' is a keyword"
        ),
        "info version": "fractals.__version__ is the version, and fractals.devices() what can draw",
        "list": "fractals.names() lists formulas, colorings, palettes and scenes",
        "load open read": (
            "fractals.load_scene reads a scene, and fractals.EscapeData.load raw numbers"
        ),
        "poster": "fractals.render_to(path, size=(width, height)) draws a picture of any size",
        "save write export dump": (
            "fractals.save_scene writes a scene, image.save a picture, and raw.save raw numbers"
        ),
        "scene scenes": "fractals.names('scenes') lists them, and fractals.load_scene reads one",
        "show display": "image.show() shows a picture, and fractals.explore a scene",
    },
    "EscapeData": {
        "counts dwell escape_time iteration iterations iters n n_iter nit": "did you mean 'count'?",
        "mask interior": "did you mean 'inside'?",
        "escaped outside exterior": "~raw.inside is where orbits escaped",
        "angle distance distances period periods phase potential smooth smooth_count": _BY_COLORING,
        "attrs info meta metadata": "raw.scene, raw.max_iterations and raw.method describe it",
        "array arrays data dtype keys to_array to_numpy": _ARRAYS,
        "axes c coords coordinates im imag re real x y": _PLACES,
        "height rows width": "raw.shape is (height, width) in samples",
        "size": "give shape: (height, width)",
        "to_dataframe to_pandas": "raw.to_xarray().to_dataframe() returns one",
        "to_netcdf to_zarr": "raw.to_xarray() returns a Dataset, which writes files",
        "color colorize image imshow plot render show to_image": _RECOLORED,
        "recolor": "give fractals.recolor(raw, ...)",
        "write to_file": "raw.save(path) writes a file",
        "open read from_file": "fractals.EscapeData.load(path) reads a file",
    },
    "PictureSums": {
        "dz inside max_iterations statistics values z": (
            "it has sums; raw.planes has them by name, and raw.to_xarray() with notes"
        ),
    },
    "Image": {
        "array data dtype numpy to_array to_numpy values": _PIXELS,
        "as_pil image pil": "image.to_pil() is Pillow's picture",
        "bytes jpeg png to_bytes to_jpeg to_png webp": "image.encode('png') returns a file's bytes",
        "crop convert filter mode resize rotate thumbnail": "image.to_pil() has Pillow's methods",
        "display imshow plot view": "image.show() shows it",
        "export": "image.save(path) writes a file",
        "fromarray from_array frombytes": "fractals.Image(pixels) makes one of an array",
        "open load read": "fractals.load_scene(path) reads the scene of a picture",
        "meta metadata info": "image.scene is what was drawn, and image.timings how long it took",
    },
    "Scene": {
        "copy_with evolve update set with_ with_changes": _REPLACED,
        "draw image show plot": "fractals.render(scene) draws it",
        "compute explore plan render": "did you mean fractals.{name}(scene)?",
        "animate video zoom_in": "fractals.film(scene) makes a film",
        "export save to_file write": "fractals.save_scene(scene, path) writes a file",
        "load open read": "fractals.load_scene(...) reads a scene",
        "as_dict dict to_dict": "did you mean 'to_table'?",
        "to_yaml": "did you mean 'to_toml' or 'to_json'?",
    },
}
# Attributes by the name of their owner: the module, or a class.
ATTRIBUTES = {owner: _by_word(said) for owner, said in _SAID.items()}


def writer_of(suffix: str) -> str:
    """Return the end of a message that refuses a type of file: who writes it, if it is known.

    >>> writer_of(".exr"), writer_of(".txt")
    ('; for .exr there is fractals.compute()', '')
    """
    return f"; for {suffix} there is fractals.{WRITERS[suffix]}()" if suffix in WRITERS else ""


def no_attribute(owner: str, what: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return the error about an attribute that is not there, with what may be meant.

    `owner` is a key of ATTRIBUTES, and `what` names it in the message.
    """
    hint = ATTRIBUTES.get(owner, {}).get(name, "").format(name=name)
    if not hint and owner == "fractals" and name in ONLY_VERBS:
        hint = f"'fractals {name}' is a verb of the command line"
    public = (each for each in known if not each.startswith("_"))
    hint = f"; {hint}" if hint else "" if name.startswith("_") else did_you_mean(name, public)
    return AttributeError(f"{what} has no attribute '{name}'{hint}")


class Hinting(type):
    """The type of a class whose unknown attributes say what is meant."""

    if not TYPE_CHECKING:  # checkers know which attributes there are

        def __getattr__(cls, name: str) -> None:
            raise no_attribute(cls.__name__, f"the class {cls.__name__}", name, dir(cls))


class Hints:
    """A class whose objects say what is meant by an unknown attribute."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> None:
            kinds = [kind.__name__ for kind in type(self).__mro__]
            owner = next((kind for kind in kinds if kind in ATTRIBUTES), "")
            raise no_attribute(owner, f"'{kinds[0]}' object", name, dir(self))
