"""Scenes and files from the browser: catalog names and inline data only. Nothing opens a file."""

import base64
import io
import json
import math
import re
import tomllib
import zlib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from fractals.color.trap_image import OF_FILES
from fractals.errors import InputError, OptionError, SceneError, kind_of, shown
from fractals.io import exif, png
from fractals.io.escape_data import SUFFIXES
from fractals.io.facts import RESOLVED
from fractals.io.files import (
    MAX_JSON_BYTES,
    PAGES,
    SCENE_KEY,
    parse_json,
    parse_scene,
    parse_toml,
    scene_in_page,
    text_of,
)
from fractals.io.foreign import MAX_BYTES, Imported, formats
from fractals.scene.model import Scene, painted, validate
from fractals.scene.numbers import LONG_INTEGER, MAX_BITS

MAX_DIGITS = 20_000  # of a coordinate: its picture takes minutes
MAX_EXPONENT = 20_000
MAX_STOPS = 1024  # of a palette
MAX_EXPRESSION = 2000  # characters
MAX_TEXT = 262_144  # bytes of a scene as text, and of an inflated link
MAX_VALUES = 100_000  # of a table
NUMBER = re.compile(r"\s*[+-]?([\d.]{1,})(?:[eE]([+-]?\d{1,9}))?\s*", re.ASCII)


def scene_of(table: Any, digits: int = MAX_DIGITS) -> Scene:
    """Return the scene of a table from outside.

    A table that is invalid, names a file, or exceeds a limit is a `SceneError`.
    """
    if not isinstance(table, Mapping):
        raise SceneError(f"a scene is a table of keys, not {kind_of(table)}")
    _check_tree(table)
    for key in ("center", "width", "zoom", "frame"):
        view = table.get("view")
        if isinstance(view, Mapping):
            _check_numbers(f"view.{key}", view.get(key), digits)
    _check_numbers("julia", table.get("julia"), digits)
    for paint in painted(table.get("color")):
        _check_paint(paint)
    # The explorer shows one view, and the numbers of keys and tracks may have any size.
    table = {key: value for key, value in table.items() if key != "film"}
    formula = table.get("formula")
    if any(len(text) > MAX_EXPRESSION for text in _texts(formula)):
        line = f"formula: more than {MAX_EXPRESSION} characters"
        raise SceneError(line, code="formula_too_large", key="formula")
    try:
        return validate(table)
    except (OptionError, SceneError) as error:
        line = str(error).replace(OF_FILES, "a file that is sent holds it")
        raise SceneError(line, **error.about) from None


def _texts(part: Any) -> Iterator[str]:
    """Yield the texts of a table, names of keys included; its depth is checked already."""
    if isinstance(part, Mapping):
        yield from map(str, part)
        part = list(part.values())
    if isinstance(part, list | tuple):
        for each in part:
            yield from _texts(each)
    else:
        yield str(part)


def _check_paint(paint: Mapping[str, Any]) -> None:
    palette = paint.get("palette")
    stops = palette.get("stops") if isinstance(palette, Mapping) else palette
    if isinstance(stops, list | tuple) and len(stops) > MAX_STOPS:
        raise SceneError(f"color.palette: {len(stops)} stops, and {MAX_STOPS} are the most")


def _check_numbers(key: str, given: Any, digits: int) -> None:
    for part in given if isinstance(given, list | tuple) else [given]:
        text = getattr(part, "text", None) or str(part)
        if len(text) > digits + 20:
            raise SceneError(f"{key}: more than {digits} digits")
        found = NUMBER.fullmatch(text)
        if found and abs(int(found[2] or 0)) > MAX_EXPONENT:
            raise SceneError(f"{key}: beyond 1e±{MAX_EXPONENT}")


def _check_tree(table: Any) -> None:
    """Raise a `SceneError` for numbers that are not finite or too long, or too many values."""
    waiting, count = [table], 0
    while waiting:
        part = waiting.pop()
        count += 1
        if count > MAX_VALUES:
            raise SceneError(f"more than {MAX_VALUES} values")
        if isinstance(part, Mapping):
            waiting += part.values()
        elif isinstance(part, list | tuple):
            waiting += part
        elif isinstance(part, float) and not math.isfinite(part):
            raise SceneError("a number is not finite")
        elif isinstance(part, int) and part.bit_length() > MAX_BITS:
            raise SceneError(LONG_INTEGER)


def of_toml(text: str) -> Scene:
    """Return the scene of a TOML text from outside, or raise a `SceneError`."""
    if len(text) > MAX_TEXT:
        raise SceneError(f"a scene has at most {MAX_TEXT} characters")
    try:
        return scene_of(parse_toml(text))
    except RecursionError:
        raise SceneError("the text is nested too deeply") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise SceneError(in_words(error)) from None


def in_words(error: Exception) -> str:
    """Return what is wrong with a text or a file, for whom the words of a library mean nothing."""
    if isinstance(error, UnicodeError):
        return "not text in UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: line {error.lineno}, column {error.colno}"
    if isinstance(error, tomllib.TOMLDecodeError):
        text = str(error)
        return f"not TOML: {shown(text[:1].lower() + text[1:])}"
    return shown(error)


def link_of(scene: Scene) -> str:
    """Return a scene as the text of a link: base64url of the deflated TOML."""
    packed = zlib.compress(scene.to_toml().encode(), 9)
    return base64.urlsafe_b64encode(packed).decode("ascii").rstrip("=")


def of_link(text: str) -> Scene:
    """Return the scene of a link's text, or raise a `SceneError`."""
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
        inflate = zlib.decompressobj()
        data = inflate.decompress(packed, MAX_TEXT)
        if inflate.unconsumed_tail or not inflate.eof:
            raise ValueError
        return scene_of(parse_toml(data.decode("utf-8")))
    except InputError:
        raise
    except (ValueError, RecursionError, zlib.error):
        line = "the link is damaged or cut short: copy the whole of it again"
        raise SceneError(line, code="link_is_damaged") from None


def entries_of(name: str, data: bytes) -> list[tuple[str, str]]:
    """Return the names of things in a file's bytes, each with words about it; [] of one thing.

    A file that is invalid is a `SceneError`.
    """
    form = formats.find(name)
    if form is None or form.entries is None:
        return []
    try:
        found = form.entries(data)
    except (ValueError, RecursionError) as error:
        raise SceneError(f"{shown(name, 80)}: {in_words(error)}") from None
    return [(entry, shown(about, 300)) for entry, about in found] if len(found) > 1 else []


def read_upload(name: str, data: bytes, entry: str = "") -> Imported:
    """Return the table in a file's bytes, and a line for each setting without an equivalent.

    The table may be a part of a scene, such as a palette. `name` only tells the format; `entry`
    names one of many things in the file. A file that is invalid, or of an unknown format, is a
    `SceneError`.
    """
    name = PurePosixPath(name.replace("\\", "/")).name or "file"
    try:
        return _read(name, entry, data)
    except RecursionError:
        raise SceneError(f"{shown(name, 80)}: nested too deeply") from None
    except (ValueError, OSError) as error:
        if isinstance(error, SceneError):
            raise
        raise SceneError(f"{shown(name, 80)}: {in_words(error)}") from None


def _read(name: str, entry: str, data: bytes) -> Imported:
    if len(data) > MAX_BYTES:
        raise SceneError(f"a file has at most {MAX_BYTES} bytes")
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in formats.PICTURES:
        text = _text_in_picture(suffix, data)
        if text is None:
            drawn = formats.in_picture(io.BytesIO(data), suffix)
            if drawn is None:
                raise SceneError(f"{shown(name, 80)}: this picture carries no scene")
            return drawn
        return Imported(_without_resolved(parse_scene(text)))
    if suffix in PAGES:
        return Imported(_without_resolved(scene_in_page(io.BytesIO(data), suffix)))
    if suffix == ".json":
        return Imported(_without_resolved(_table(parse_json(data))))
    form = formats.find(name)
    if suffix == ".toml" and form is None:
        table = parse_toml(text_of(data))
        form = None if table.keys() <= {*Scene.model_fields, RESOLVED} else formats.claimant(table)
        if form is None:
            return Imported(_palette_or_scene(_without_resolved(table)))
    if form is None:
        raise _not_read(name, suffix)
    found: Imported = form.read(data, entry)
    return found


def _not_read(name: str, suffix: str) -> SceneError:
    """Return why a file of this name, which ends in `suffix`, is not read here."""
    where = shown(name, 80)
    inner = PurePosixPath(name).stem  # as some systems and forums add .txt
    if formats.find(inner) or PurePosixPath(inner).suffix.lower() in formats.OWN:
        return SceneError(f"{where}: rename it to {shown(inner, 80)}: its end tells the format")
    if suffix in SUFFIXES:
        line = "raw numbers are not read here: start the explorer with their file"
        return SceneError(f"{where}: {line}")
    if suffix in formats.OTHERS:  # without what is for a program
        return SceneError(f"{where}: {formats.OTHERS[suffix].partition(': fractals.')[0]}")
    ends = " ".join(each for each in formats.suffixes().split() if each not in SUFFIXES)
    line = f"{where}: unknown format: a file ends in {ends}"
    return SceneError(line, code="unknown_format", name=ends)


def _without_resolved(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table without what "auto" was in a picture; it is found again."""
    return {key: value for key, value in table.items() if key != RESOLVED}


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise SceneError(f"a table of keys was expected, not {kind_of(value)}")
    return value


def _palette_or_scene(table: dict[str, Any]) -> dict[str, Any]:
    return {"color": {"palette": table}} if "stops" in table else table


def _text_in_picture(suffix: str, data: bytes) -> str | None:
    file = io.BytesIO(data)
    if suffix != ".png":
        return exif.comment_in(file)
    if not png.begins(file):
        raise ValueError("not a PNG, or damaged at its beginning")
    return png.read_text(file, SCENE_KEY, MAX_JSON_BYTES)
