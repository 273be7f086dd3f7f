"""Raw numbers in OpenEXR pictures, with the channels of Kalles Fraktaler 2+ and Fraktaler-3.

``N`` (uint)
    The whole part of the smooth count plus the attribute ``IterationsBias``; 2**32 - 1 inside. It
    is the count itself, but where an orbit jumped further than R**degree in its last step: by an
    escape radius of 256 that is two samples in a million. Counts beyond 32 bits are read in two
    channels, ``N0`` and ``N1``, the lower half first.
``NF`` (float)
    The smooth count's fraction, from 0 to 1: N + NF is n + 1 - log(log|z| / log R) / log degree.
    0 where the formula has no degree, as N is the count itself then.
``T`` (float)
    The angle of z_n in turns, from 0 to 1.
``DEX``, ``DEY`` (float)
    The estimate of the distance to the set, |z| log|z| / |dz/dc|, in the pixels of the EXR, which
    are samples, and which way it changes: z log|z| / (dz/dc), turned as the picture is. Where
    the raw numbers have dz. Half of what the coloring "distance" shows: the set lies between half
    and twice this far away.

The attributes ``Iterations`` (the limit), ``fractals:scene``, ``fractals:base`` and
``fractals:method`` go with them. z and dz are computed from the channels when an EXR is read, to
the six digits that a float has. That is enough for all colorings but those of orbit statistics,
which an EXR does not hold.

Of a file with several parts the one that has ``N`` or ``N0`` is read.
"""

import contextlib
import importlib
import io
import math
import os
import re
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from fractals.errors import FractalsError, InputError, OptionError, shown, to_install
from fractals.io.escape_data import METHODS, EscapePlanes, with_directions
from fractals.io.files import (
    PATH_SHOWN,
    SCENE_KEY,
    check_output,
    open_to_read,
    parse_scene,
    path_of,
    written,
)
from fractals.io.raw import RawFormat
from fractals.kernels.angles import direction
from fractals.kernels.formula import AnyFormula
from fractals.scene.geometry import place_of
from fractals.scene.model import MAX_ITERATIONS, Scene, validate

BASE_KEY = "fractals:base"
METHOD_KEY = "fractals:method"
BIAS = 1024  # what the other programs add to counts, as 0 means "not computed"
INSIDE = 2**32 - 1
MAX_SAMPLES = 2**31  # of a file that is read
MAX_BIAS = 2**32  # of counts
# Bytes that a byte of the file can become: deflate reaches 1032. Above this ratio, and this size, a
# file whose header promises more is a bomb or cut short.
MAX_RATIO, SURELY_SMALL = 2000, 64 * 2**20
USED = ("N", "N0", "N1", "NF", "T", "DEX", "DEY")  # channels
PRIMARIES = {  # of gamuts, and their white, x and y
    "p3": (0.68, 0.32, 0.265, 0.69, 0.15, 0.06, 0.3127, 0.329),
    "adobe": (0.64, 0.33, 0.21, 0.71, 0.15, 0.06, 0.3127, 0.329),
}
MAGIC = b"\x76\x2f\x31\x01"
_ALONE = threading.Lock()  # of the thread that reads: stdout and stderr are one for all
LOST = "z and dz keep six digits in an EXR, and orbit statistics are not kept"


def library() -> Any:
    """Return the module OpenEXR, or say how to get it."""
    try:
        return importlib.import_module("OpenEXR")
    except ImportError:
        raise FractalsError(f"EXR pictures need OpenEXR: {to_install('exr')}") from None


def save(raw: EscapePlanes, path: Path, overwrite: bool) -> None:
    """Write raw numbers as an EXR."""
    check_output(path, overwrite)
    view = raw.scene.view
    if view.mirror or view.stretch != 1 or view.projection != "plane":
        raise OptionError(
            f"'{path}': other programs take an EXR's directions for those of a plain view, and "
            "this one is mirrored, stretched or projected: compute a store (.fz)"
        )
    exr = library()
    header = {
        "compression": exr.ZIP_COMPRESSION,
        "type": exr.scanlineimage,
        "Iterations": int(raw.max_iterations),
        "IterationsBias": BIAS,
        SCENE_KEY: raw.scene.to_json(),
        BASE_KEY: float(raw.count_offset),
        METHOD_KEY: raw.method,
    }
    _write(path, header, channels(raw), overwrite)


def save_picture(
    path: Path, planes: dict[str, NDArray[np.float32]], scene: Scene, overwrite: bool
) -> None:
    """Write the light of a picture, and other planes of it, as an EXR that carries its scene."""
    exr = library()
    header = {"compression": exr.ZIP_COMPRESSION, "type": exr.scanlineimage}
    if not isinstance(scene.formula, AnyFormula):  # a function of the user's
        header[SCENE_KEY] = scene.to_json()
    if scene.image.gamut in PRIMARIES:
        header["chromaticities"] = PRIMARIES[scene.image.gamut]
    _write(path, header, planes, overwrite)


def _write(
    path: Path, header: dict[str, Any], planes: dict[str, NDArray[Any]], overwrite: bool
) -> None:
    with written(path, overwrite) as file:
        try:
            with library().File(header, planes) as picture:
                picture.write(path_of(file))
        except (RuntimeError, ValueError) as error:
            said = str(error).split("\n")[0]  # of a descriptor, not of the file's name
            raise OSError(re.sub(r'^.*"/proc/\S*"\.?\s*', "", said).rstrip(".") or said) from None


def channels(raw: EscapePlanes) -> dict[str, NDArray[Any]]:
    """Return the arrays that an EXR of raw numbers holds."""
    raw, scene = with_directions(raw), raw.scene
    radius, degree = scene.iteration.escape_radius, scene.make_formula().degree
    outside = raw.count < raw.max_iterations
    z = np.where(outside, raw.z, 1).astype(np.complex128)
    with np.errstate(all="ignore"):
        beyond = np.ones(z.shape)
        if degree > 1:
            beyond = np.log(np.log(np.abs(z)) / math.log(radius)) / math.log(degree)
        beyond = np.where(outside & np.isfinite(beyond), beyond, 1)
        carry = np.floor(1 - beyond)
        fraction = np.minimum(
            (1 - beyond - carry).astype(np.float32), np.nextafter(np.float32(1), 0)
        )
        turns = (np.angle(z) / (2 * math.pi) % 1).astype(np.float32)
    turns = np.where(turns < 1, turns, 0)
    found: dict[str, NDArray[Any]] = {
        "N": np.where(outside, raw.count + carry.astype(np.int64) + BIAS, INSIDE).astype(np.uint32),
        "NF": np.where(outside, fraction, np.float32(0)),
        "T": np.where(outside, turns, np.float32(0)),
    }
    if raw.dz is not None:
        with np.errstate(all="ignore"):
            away = z * np.log(np.abs(z)) / (raw.dz * _turned(scene, raw.method))
        known, most = outside & np.isfinite(away), float(np.finfo(np.float32).max)
        for name, part in (("DEX", away.real), ("DEY", away.imag)):
            found[name] = np.where(known, part, 0).clip(-most, most).astype(np.float32)
    return found


def _turned(scene: Scene, method: str) -> complex:
    """Return what one sample to the right in the picture is in units of dz."""
    columns = scene.image.size[0] * scene.image.supersampling
    width, _ = place_of(scene)
    unit = 1.0 if method == "perturbation" else float(width)
    return complex(*direction(scene.view.rotation)) * unit / columns


def load(path: Path) -> EscapePlanes:
    """Read raw numbers from an EXR of this or of another program.

    An EXR of another program has no scene that is readable here: the scene of z**2 + c is used.

    `InputError`: the file is missing, damaged, or has no channel of counts.
    """
    name = shown(path, PATH_SHOWN)
    try:
        return _loaded(*_read(path))
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _loaded(attributes: dict[str, Any], found: dict[str, NDArray[Any]]) -> EscapePlanes:
    count = _counts(found)
    rows, columns = count.shape
    inside = count < 0
    bias = _number(attributes, "IterationsBias", 0)
    if abs(bias) > MAX_BIAS:
        raise InputError(f"its attribute IterationsBias is {shown(bias, 40)}, beyond {MAX_BIAS}")
    # Counts below the bias were not computed by the program that wrote them.
    count = np.where(inside, count, np.maximum(count - bias, 0))
    most = int(count[~inside].max(initial=0))
    limit = _number(attributes, "Iterations", most + 1)
    if most >= MAX_ITERATIONS or not most < limit <= 2 * MAX_ITERATIONS:
        raise InputError(f"a count of {most} with a limit of {shown(limit, 40)} can't be read")
    scene = _scene(attributes, (columns, rows))
    limit = min(limit, MAX_ITERATIONS)
    method = _text(attributes, METHOD_KEY, "direct")
    if method not in METHODS:
        raise InputError(f"its attribute {METHOD_KEY} is neither {' nor '.join(METHODS)}")
    z, dz = _orbits(scene, method, inside, found)
    raw = EscapePlanes(
        np.where(inside, limit, count).astype(np.int32),
        z,
        dz,
        limit,
        scene,
        method=method,
        count_offset=_real(attributes, BASE_KEY),
        exact=False,
    )
    raw.check()
    return raw


def _number(attributes: dict[str, Any], key: str, default: int) -> int:
    try:
        return int(attributes.get(key, default))
    except (ValueError, TypeError, OverflowError):
        raise InputError(f"its attribute {key} is no whole number") from None


def _real(attributes: dict[str, Any], key: str) -> float:
    try:
        return float(attributes.get(key, 0))
    except (ValueError, TypeError, OverflowError):
        raise InputError(f"its attribute {key} is no number") from None


def _text(attributes: dict[str, Any], key: str, default: str) -> str:
    try:
        return str(attributes.get(key, default))
    except UnicodeDecodeError:  # the library decodes an attribute when it becomes a str
        raise InputError(f"its attribute {key} is no Unicode text") from None


def _scene(attributes: dict[str, Any], size: tuple[int, int]) -> Scene:
    if SCENE_KEY not in attributes:
        return Scene().replace(size=size, supersampling=1)
    try:
        scene = validate(parse_scene(str(attributes[SCENE_KEY])))
    except ValueError as error:
        raise InputError(f"the scene in it is damaged ({shown(error, 80)})") from None
    n = scene.image.supersampling
    if (scene.image.size[0] * n, scene.image.size[1] * n) != size:
        raise InputError(f"it has {size[0]}x{size[1]} samples, and the scene inside says otherwise")
    return scene


def _counts(found: dict[str, NDArray[Any]]) -> NDArray[np.int64]:
    """Return counts with their bias; -2**62 inside. All channels that are used have one shape."""
    low = found.get("N", found.get("N0"))
    if low is None or low.dtype != np.uint32 or low.ndim != 2:
        names = ", ".join(f"{name} of {found[name].dtype}" for name in sorted(found)) or "none"
        raise InputError(f"no channel N of counts, of uint32: it has {shown(names)}")
    for name in USED:
        part = found.get(name, low)
        if part.shape != low.shape or part.dtype.kind not in "fu":
            raise InputError(f"the channel {name} is not of the size of the counts, or no number")
    count = low.astype(np.int64)
    inside = low == INSIDE
    if "N" not in found and "N1" in found:
        high = found["N1"].astype(np.int64)
        inside &= high == INSIDE
        count |= np.minimum(high, 2**30) << 32
    return np.where(inside, -(2**62), count)


def _orbits(
    scene: Scene, method: str, inside: NDArray[np.bool_], found: dict[str, NDArray[Any]]
) -> tuple[NDArray[np.complex128], NDArray[np.complex128] | None]:
    """Return a z with this fraction and angle, and a dz with this distance."""
    radius, degree = scene.iteration.escape_radius, scene.make_formula().degree
    shape = inside.shape
    none = np.zeros(shape, np.float32)
    fraction = np.nan_to_num(found.get("NF", none).astype(np.float64)).clip(0, 1)
    turns = np.nan_to_num(found.get("T", none).astype(np.float64))
    log = math.log(radius) * max(degree, 1) ** (1 - fraction)  # of |z|
    with np.errstate(over="ignore", invalid="ignore"):
        z = np.exp(log + 2j * math.pi * turns)
    dz = None
    if {"DEX", "DEY"} <= set(found):
        away = found["DEX"].astype(np.float64) + 1j * found["DEY"]
        with np.errstate(all="ignore"):
            dz = z * log / (away * _turned(scene, method))
        dz = np.where(inside | ~np.isfinite(dz), 0, dz)
    return np.where(inside, 0, z), dz


def _read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the attributes and the channels of a file."""
    exr = library()
    try:
        with open_to_read(path) as file:
            if file.read(4) != MAGIC:
                raise InputError("not an EXR picture")
            length = os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        raise InputError("no such file") from None
    except OSError as error:
        raise InputError(error.strerror or str(error)) from None
    try:
        with _quiet(), exr.File(str(path), header_only=True) as picture:
            names = []
            for header in (picture.header(k) for k in range(len(picture.parts))):
                low, high = header["dataWindow"]
                width, height = (int(b) - int(a) + 1 for a, b in zip(low, high, strict=True))
                names.append([channel.name for channel in header["channels"]])
                _check_size(width, height, len(names[-1]), length)
            part = _part_of(names)
        with _quiet(), exr.File(str(path), separate_channels=True) as picture:
            pixels = {name: channel.pixels for name, channel in picture.channels(part).items()}
            return dict(picture.header(part)), pixels
    except InputError:
        raise
    except (
        RuntimeError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        ArithmeticError,
        SystemError,
        MemoryError,
    ) as error:
        reason = shown(str(error).split("\n")[0], 80) or "no pixels"
        raise InputError(f"the EXR is damaged or cut short ({reason})") from None


def _check_size(width: int, height: int, channels: int, length: int) -> None:
    """Raise an `InputError` for a part that is too large, or larger than a file's bytes allow."""
    if width * height > MAX_SAMPLES:
        raise InputError(f"{width}x{height} samples: at most {MAX_SAMPLES} are read")
    if 4 * channels * width * height > max(SURELY_SMALL, MAX_RATIO * length):
        raise InputError(
            f"{width}x{height} samples in {channels} channels can't be in {length} bytes"
        )


def _part_of(parts: Sequence[list[str]]) -> int:
    """Return the number of the part that holds counts, of the channels of each; 0 if none does."""
    counted = [k for k, names in enumerate(parts) if "N" in names or "N0" in names]
    if len(counted) > 1:
        raise InputError(f"{len(counted)} of its {len(parts)} parts hold counts: save one alone")
    return counted[0] if counted else 0


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Drop what OpenEXR prints while it reads a file.

    Its warnings would be a part of a picture that goes to Python's stdout, and its own lines about
    damage stand on stderr before the line that says all. They come from C, so the descriptor is
    another one meanwhile. What others print there then is printed at the end.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(_ALONE)
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        with contextlib.suppress(OSError):  # stderr is closed, or no file can be made: lines stay
            printed = stack.enter_context(tempfile.TemporaryFile())
            stderr = os.dup(2)
            os.dup2(printed.fileno(), 2)
            stack.callback(_back, stderr, printed)
        yield


def _back(stderr: int, printed: IO[bytes]) -> None:
    """Have a descriptor as stderr again, and print there what OpenEXR did not."""
    os.dup2(stderr, 2)
    os.close(stderr)
    printed.seek(0)
    with contextlib.suppress(OSError):  # a pipe that nobody reads
        os.write(2, b"".join(line for line in printed if b"(EXR_ERR_" not in line))


def make() -> RawFormat:
    """Return the format."""
    return RawFormat(save, load, LOST, library)
