"""The scene that arguments and options describe, and the name of the file that is written."""

import itertools
import os
import re
import sys
from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fractals import catalog
from fractals.cli import shared
from fractals.cli.messages import tell, tell_lost
from fractals.cli.values import (
    PRINT_DPI,
    check_length,
    check_text,
    check_value,
    exact,
    parse_coloring,
    parse_formula,
    parse_pair,
    parse_point,
    parse_size,
    physical_size,
    relative,
    share,
)
from fractals.errors import OptionError, SceneError, shown
from fractals.scene.numbers import decimal_places, decimals, decimals_of

if TYPE_CHECKING:
    from fractals.scene.model import Scene
    from fractals.scene.paint import Paint

MAX_STDIN = 64 * 2**20  # bytes: the bound of files of other programs
WIDEST = 10  # times the home width, beyond which --width is taken for a number of pixels
SHAPE = 0.01  # by which the shape of paper may differ from the scene's without a word
MOST_PAN = 100_000  # decimal exponent, beyond which the digits of a place take minutes
SPARE_DIGITS = 6  # of a new center, beyond the digits that tell pixels apart, so one can zoom on
MAX_WEIGHTS = 10_000  # characters of a file with weights, which are 52 numbers
MAX_NAME, MAX_STEM = 100, 200  # characters and bytes of a default name, without its end
DASHES = "\u2010\u2011\u2012\u2013\u2014\u2212"  # hyphens of text processors
# Half of a point, of which a shell may make two words, and an option that was copied from a page
NO_SCENE = re.compile(rf"[-+]?\d{{0,20}}[.,]?\d{{1,20}}|[{DASHES}].*", re.ASCII)
NO_NAME = re.compile(r'[\\/:*?"<>|\x00-\x1f]')  # characters that no file's name has, on Windows too
# Of what stdin holds, by how it begins.
SUFFIXES = {
    rb"\x89PNG": ".png",
    rb"\xff\xd8\xff": ".jpg",
    rb"RIFF": ".webp",
    rb"II\*\0|MM\0\*": ".tif",
    rb"....ftyp": ".avif",
    rb"<!doctype html": ".html",
    rb"<svg": ".svg",
    rb"<[fF]la": ".flame",
    rb"\{": ".json",
}


def requested_scene(
    sources: tuple[Any, ...],
    options: Mapping[str, Any],
    lost: list[str] | None = None,
    defaults: Mapping[str, Any] | None = None,
    fits: bool = True,
) -> "Scene":
    """Return the scene that sources and options describe.

    Of the sources ``-`` is stdin, and ``a+b`` merges two; they and the options, which are None
    where they were not given, override the table `defaults`. `lost` receives, and stderr shows,
    what has no equivalent in a scene. `fits`: density and offset are fitted to a new coloring.
    """
    from fractals.io.load import scene_of

    lost = [] if lost is None else lost
    given = {key: value for key, value in options.items() if value is not None}
    for key, value in given.items():
        if isinstance(value, str):
            check_text(key.replace("_", "-"), value)
    parts = [part for source in sources for part in merged_parts(source)]
    if parts.count("-") > 1:
        raise OptionError("'-' is given twice: stdin holds one scene")
    for part in parts:
        if isinstance(part, str) and NO_SCENE.fullmatch(part) and not os.path.exists(part):
            raise _no_scene(part)
    read = [read_stdin(lost) if part == "-" else part for part in parts]
    own = [defaults] if defaults else []
    scene = scene_of([*own, *read], lost, **shared.reading())
    changes = scene_changes(scene, given, lost) if given else {}
    if lost:
        tell_lost(lost)
    if not (changes or given.get("fit")):
        return scene
    changed = _with_changes(scene, changes, given)
    if "author" in options:  # of a verb that writes pictures
        changed = credited(scene, changed, given, defaults)
    return fitted(scene, changed, given) if fits else changed


def _no_scene(part: str) -> OptionError:
    """Return the error of a word that is meant to be no scene."""
    meant = part.lstrip(DASHES)
    if meant == part:
        return OptionError(f"'{part}' is no scene: X,Y is one word, such as \"-0.75,0.1\"")
    meant = ("--" if len(meant) > 1 else "-") + meant
    return OptionError(f"'{shown(part, 40)}' is no scene: an option is {shown(meant, 40)}")


def _with_changes(scene: "Scene", changes: Mapping[str, Any], given: Mapping[str, Any]) -> "Scene":
    """Return a scene with keys changed, as the options `given` ask for; errors name the options."""
    try:
        changed = scene.replace(**changes)
    except SceneError as error:
        raise OptionError(_as_options(error)) from None
    if "width" in given and relative(str(given["width"])) is None:
        check_width(changed)
    return changed


def credited(
    before: "Scene", scene: "Scene", given: Mapping[str, Any], defaults: Mapping[str, Any] | None
) -> "Scene":
    """Return a scene made of another, whose author is not kept in silence.

    The author of the gallery's scenes gives way to the user's own of the file of defaults, or to
    none. Another author stays, and a line says so.
    """
    from fractals.scene.credits import is_derived, unsigned

    own = (defaults or {}).get("author", "")
    if "author" in given:
        return scene
    scene = unsigned(before, scene, own)
    other = scene.author if scene.author != own else ""
    if other and is_derived(before.to_values(), scene.to_values()):
        tell(f"the picture keeps the author of its scene, {shown(other, 80)}: --author names you")
    return scene


def fitted(before: "Scene", scene: "Scene", given: Mapping[str, Any]) -> "Scene":
    """Return a scene whose palette, density and offset fit a coloring or a palette that was given.

    See `fractals.rendering.fit.chosen`. What was given too stays. With --fit they are fitted in any
    case, and those of the layers too.
    """
    fit = given.get("fit")
    if fit is False or not (fit or {"coloring", "palette"} & given.keys()):
        return scene
    from fractals.rendering.fit import chosen, fit_colors

    what = chosen(before, scene, given.keys())
    if not what and (not fit or {"density", "offset"} & given.keys()):
        return scene
    from fractals.cli.messages import ProgressLine, program_of

    if what == "coloring":
        own: dict[str, Any] = dict.fromkeys({"palette", "transfer"} - given.keys(), "auto")
        scene = scene.replace(**own)
    with ProgressLine(program=program_of(scene)):
        scene = fit_colors(scene, layers=bool(fit))
    named = f"the coloring {scene.color.coloring.name}"
    if what == "palette" and not fit:
        named = "a palette with two ends"
    tell(f"{_fitted_values(scene.color)} are fitted to {named}")
    for layer in scene.color.paints[1:] if fit else ():
        tell(f"{_fitted_values(layer)} are fitted to the layer {layer.coloring.name}")
    return scene


def _fitted_values(paint: "Paint") -> str:
    return f"density {paint.density:g} and offset {paint.offset:g}"


def merged_parts(source: Any) -> list[Any]:
    """Return the sources that ``a+b`` merges.

    Names of files and of entries may have a + too: each source is the longest text that is a file,
    an entry of one, or the name of a scene.

    >>> merged_parts("seahorse+colors.toml")
    ['seahorse', 'colors.toml']
    """
    if not isinstance(source, str) or "+" not in source or os.path.exists(source):
        return [source]
    return _split_sum(source)


def _split_sum(source: str) -> list[Any]:
    from fractals.io.foreign import formats

    ends = [*(match.start() for match in re.finditer(r"\+", source)), len(source)]
    end = next((end for end in reversed(ends) if is_whole(source[:end])), None)
    if end is not None:
        rest = source[end + 1 :]
        return [source[:end], *(merged_parts(rest) if rest else [])]
    path, entry = formats.split(source)
    if entry and path.is_file():
        return [source]  # the message then names the file's entries
    return [part for part in source.split("+") if part]


def is_whole(source: str) -> bool:
    """Tell whether a text is a file, an entry of a file, or the name of a scene."""
    from fractals.io.foreign import formats

    if source == "-" or os.path.isfile(source):
        return True
    name = source.removeprefix("gallery:")
    if catalog.has("gallery", name) or catalog.has("solid", source):
        return True
    path, entry = formats.split(source)
    if not entry:
        return path.suffix.lower() == ".fz" and path.is_dir()
    return path.is_file() and formats.has_entry(path, entry)


def read_stdin(lost: list[str]) -> dict[str, Any]:
    """Return the table of the scene on stdin: TOML, JSON, or what its first bytes tell.

    Files that it names become values, as those of a scene in a file of the current folder.
    """
    import tempfile

    from fractals.io.beside import Place
    from fractals.io.foreign.formats import SIGNS
    from fractals.io.load import embed_files
    from fractals.io.tables import read_table

    if sys.stdin is None or sys.stdin.isatty():
        raise OptionError("'-' reads a scene from stdin: pipe one into it")
    data = sys.stdin.buffer.read(MAX_STDIN + 1)
    if len(data) > MAX_STDIN:
        raise SceneError(f"stdin: larger than {MAX_STDIN} bytes")
    if not data.strip():
        raise SceneError("stdin: empty: a scene in TOML or JSON, or a picture, is expected")
    start = data.lstrip()[:20]
    ends = (end for head, end in SUFFIXES.items() if re.match(head, start, re.S))
    others = (f".{name}" for name, sign in SIGNS.items() if sign.search(data))
    suffix = next(itertools.chain(ends, others), ".toml")
    with tempfile.TemporaryDirectory(prefix="fractals-") as folder:
        path = Path(folder, f"stdin{suffix}")  # a file, as Pillow and the formats read files
        path.write_bytes(data)
        try:
            found: list[str] = []
            folders = shared.formulas()
            table = read_table(path, found, folders, shared.lossy())
            # A stranger's, as a file may be: what it names lies in the current folder.
            table = dict(embed_files(table, Place(Path(), True, folders), found, "stdin: "))
        except SceneError as error:
            raise SceneError(str(error).replace(str(path), "stdin")) from None
    lost += [line.replace(str(path), "stdin") for line in found]
    return table


def scene_changes(scene: "Scene", given: Mapping[str, Any], lost: list[str]) -> dict[str, Any]:
    """Return the keys of the scene that options change, with their values."""
    changes = dict(given)
    at, pan, _ = (changes.pop(key, None) for key in ("at", "pan", "fit"))
    for key in ("center", "julia"):
        if key in changes:
            changes[key] = parse_point(changes[key], key)
    if "network" in changes:
        if "formula" in changes:
            raise OptionError("--formula and --network are both given: give one of them")
        changes["formula"] = read_network(changes.pop("network"))
    elif "formula" in changes:
        changes["formula"] = parse_formula(changes["formula"])
    if "coloring" in changes:
        changes["coloring"] = parse_coloring(changes["coloring"])
    if "size" in changes:
        dpi = check_value("dpi", changes["dpi"]) if "dpi" in changes else scene.image.dpi
        if physical := physical_size(changes["size"], scene.image.size):
            changes.setdefault("dpi", physical[4] or f"{dpi or PRINT_DPI:g}")
        changes["size"] = parse_size(changes["size"], scene.image.size, dpi)
        if physical:
            tell_of_shape(scene, changes["size"])
    if "palette" in changes:
        changes["palette"] = read_palette(str(changes["palette"]), lost)
    for key, value in changes.items():
        if isinstance(value, str):
            changes[key] = check_value(key, value)
    if "width" in changes and "zoom" in changes:
        raise OptionError("--width and --zoom are both given: give one of them")
    if "center" in changes and at:
        raise OptionError("--center and --at are both given: give one of them")
    if changes.get("bits") == "8" and changes.get("hdr", scene.image.hdr):
        raise OptionError("--bits 8: high dynamic range has 16 bits: give --no-hdr, too")
    if at or pan or "width" in changes or "zoom" in changes:
        return moved(scene, changes, at, pan)
    return changes


def moved(
    scene: "Scene", changes: dict[str, Any], at: str | None, pan: str | None
) -> dict[str, Any]:
    """Return changes with the center that --at and --pan mean, and relative sizes as numbers."""
    base = {key: changes[key] for key in ("formula", "julia", "center") if key in changes}
    try:
        base_scene = scene.replace(**base) if base else scene
    except SceneError as error:
        raise OptionError(_as_options(error)) from None
    if at or pan:
        changes["center"] = moved_center(base_scene, at, pan)
    for key in ("width", "zoom"):
        if key in changes:
            check_length(key, changes[key])
            factor = relative(changes[key])
            if factor is not None:
                del changes[key]
                changes |= scaled(base_scene, factor if key == "zoom" else 1 / factor)
    return changes


def tell_of_shape(scene: "Scene", size: tuple[int, int]) -> None:
    """Tell that a paper of another shape than the scene's shows more or less of it."""
    width, height = scene.image.size
    ratio = size[1] / size[0] * width / height
    if abs(ratio - 1) > SHAPE and scene.view.frame is None:
        form, seen = ("higher", "more") if ratio > 1 else ("flatter", "less")
        tell(
            f"the paper is {form} than the {width}x{height} of the scene: {seen} is seen above and "
            "below"
        )


def scaled(scene: "Scene", zoom: Decimal) -> dict[str, str]:
    """Return the width, or the zoom, of a scene zoomed in by a factor.

    >>> from fractals.scene.model import Scene
    >>> scaled(Scene(view={"width": "0.5"}), Decimal(10)), scaled(Scene(), Decimal(4))
    ({'width': '0.05'}, {'zoom': '4'})
    """
    old = scene.view.width or scene.view.zoom or "1"
    with localcontext() as context:
        context.prec = min(len(old), 1000) + 20
        if scene.view.width:
            return {"width": f"{(Decimal(old) / zoom).normalize():f}"}
        return {"zoom": str((Decimal(old) * zoom).normalize())}


def moved_center(scene: "Scene", at: str | None, pan: str | None) -> tuple[str, str]:
    """Return the center of a view that is centered on a pixel, or moved by shares of its width."""
    from fractals.scene.geometry import matrix, place_of

    if scene.view.projection != "plane":
        raise OptionError(f"--{'at' if at else 'pan'} requires the projection 'plane'")
    width, center = place_of(scene)
    columns, rows = scene.image.size
    right = up = Fraction(0)
    if at:
        x, y = map(Fraction, parse_pair(at, "at", "320,180", exact))
        if not (0 <= x < columns and 0 <= y < rows):
            raise OptionError(
                f"--at: {shown(at, 40)} lies outside the {columns}x{rows} pixels of the scene"
            )
        right = (x + Fraction(1, 2) - Fraction(columns, 2)) * width / columns
        up = -(y + Fraction(1, 2) - Fraction(rows, 2)) * width / columns
    if pan:
        shares = parse_pair(pan, "pan", "0.5,0 or 10%,0", share)
        if max(each.adjusted() for each in shares) > MOST_PAN:
            raise OptionError(f"--pan: '{shown(pan, 40)}' is beyond 1e{MOST_PAN} widths")
        across, upwards = map(Fraction, shares)
        right, up = right + across * width, up + upwards * width
    a, b, c, d = matrix(scene.view)
    x, y = center[0] + a * right + b * up, center[1] + c * right + d * up
    places = decimals(width / columns) + SPARE_DIGITS
    places = max([places, *map(decimals_of, scene.view.center or ())])
    return decimal_places(x, places), decimal_places(y, places)


def check_width(scene: "Scene") -> None:
    """Refuse a width so far beyond the formula's home that it must mean pixels."""
    from fractals.scene.geometry import home_width_of, place_of
    from fractals.scene.numbers import scientific

    (width, _), home = place_of(scene), home_width_of(scene)
    if scene.view.width and scene.view.projection == "plane" and width > WIDEST * home:
        ratio = width / home
        times = f"{float(ratio):.0f}" if ratio < 10**6 else scientific(ratio)
        raise OptionError(
            f"--width {shown(scene.view.width, 40)} is {times} times the width "
            f"of the whole fractal, {float(home):g}: --size is for pixels; "
            f"--zoom {scientific(home / width)} draws so wide a view"
        )


def _as_options(error: SceneError) -> str:
    """Return an error's message with options in place of keys; equal lines are one."""
    return "\n".join(dict.fromkeys(map(_as_option, str(error).splitlines())))


def _as_option(line: str) -> str:
    """Turn ``view.width: ...`` into ``--width: ...``."""
    path, _, message = line.partition(": ")
    key = next((part for part in reversed(path.split(".")) if not part.isdecimal()), path)
    key = "formula" if path.startswith("formula") else key
    key = "coloring" if path.startswith("color.coloring") else key
    return f"--{key.replace('_', '-')}: {message}"


def read_network(text: str) -> dict[str, Any]:
    """Return the table of a pattern network from its seed, or from a file with its weights."""
    from fractals.io.files import open_to_read, read_most, text_of

    if text.isdecimal() and text.isascii():
        return {"name": "network", "seed": int(text[:20])}
    try:
        with open_to_read(text) as file:
            weights = text_of(read_most(file, MAX_WEIGHTS))
    except (OSError, ValueError):
        raise OptionError(
            f"--network: '{shown(text, 80)}' is neither a seed, such as 7, nor a file with weights"
        ) from None
    if len(weights) > MAX_WEIGHTS:
        raise OptionError(f"--network: {shown(text, 80)} is larger than {MAX_WEIGHTS} characters")
    return {"name": "network", "weights": " ".join(weights.replace(",", " ").split())}


def read_palette(name: str, lost: list[str]) -> Any:
    """Return the palette of a name or a file; `lost` receives what a file holds beyond it."""
    from fractals.io.palettes import find_palette

    if name.lower() in (*catalog.names("palettes"), "auto"):
        return name.lower()  # names that differ by case only mean the same
    palette, lines = find_palette(name)
    lost += [f"{name}: {line}" for line in lines]
    return palette or name  # the model reports an unknown name


def default_output(
    sources: tuple[str, ...], options: Mapping[str, Any], suffix: str, free: bool = True
) -> str:
    """Return the name of the file to write, after the scene and what was changed in it.

    The name of a source is numbered, and on a terminal, where `free` allows it, one that exists.

    >>> default_output(("seahorse",), {"palette": "ember"}, ".png")
    'seahorse-ember.png'
    >>> default_output((), {"julia": "-0.8,0.156"}, ".png")
    'julia.png'
    """
    parts = [source_name(source) for source in sources if source != "-"][-1:]
    for key in ("formula", "network", "julia", "palette", "coloring"):
        value = options.get(key)
        if value:
            parts.append("julia" if key == "julia" else option_name(str(value), key))
    stem = "-".join(dict.fromkeys(parts or ["mandelbrot"]))[:MAX_NAME]
    while len(os.fsencode(stem)) > MAX_STEM:
        stem = stem[:-1]
    name = stem + suffix
    read = {Path(source).absolute() for source in sources if isinstance(source, str)}
    is_source = Path(name).absolute() in read and suffix != ".fz"
    is_taken = free and os.path.lexists(name) and sys.stderr is not None and sys.stderr.isatty()
    if is_source or is_taken:
        numbered = next(
            f"{stem}-{k}{suffix}"
            for k in range(2, 10**6)
            if not os.path.lexists(f"{stem}-{k}{suffix}")
        )
        why = "is the source" if is_source else "exists already"
        tell(f"{name} {why}: the output is {numbered}")
        return numbered
    return name


def check_png(path: str | Path, overwrite: bool, name: str = "--output") -> None:
    """Refuse a file that is no PNG, or can't be written, before any work is done."""
    from fractals.io.files import check_output

    if Path(path).suffix.lower() != ".png":
        raise OptionError(f"{name}: '{shown(path, 80)}' does not end in .png")
    check_output(path, overwrite)


def source_name(source: str) -> str:
    """Return the name of a source without its folder and suffix.

    Characters of an entry that no name of a file may have become underscores.

    >>> source_name("a/sea.png"), source_name("many.par#one/two"), source_name("gallery:silk")
    ('sea', 'one_two', 'silk')
    """
    from fractals.io.foreign import formats

    path, entry = formats.split(merged_parts(source)[-1].removeprefix("gallery:"))
    return NO_NAME.sub("_", entry or path.stem) or "mandelbrot"


def option_name(value: str, key: str) -> str:
    """Return what the value of an option gives to the name of a file.

    >>> option_name("multibrot,power=4", "formula"), option_name("z**3 + c", "formula")
    ('multibrot', 'formula')
    >>> option_name("maps/Skydye07.map", "palette"), option_name("cmap:viridis", "palette")
    ('Skydye07', 'viridis')
    """
    first = value.split(",")[0].strip()
    if key == "network":
        return f"network-{Path(value).stem}" if re.fullmatch(r"[\w-]+", Path(value).stem) else key
    if key == "formula":
        first = Path(first).stem if first.endswith(".py") else first
    if key == "palette":
        first = Path(first.removeprefix("cmap:")).name.partition(".")[0]
    return first if re.fullmatch(r"[\w-]+", first) else key
