"""RawData: what the raw numbers of all families have in common, and their xarray Datasets."""

import contextlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals import __version__
from fractals.errors import OptionError, SceneError, to_install
from fractals.scene.geometry import matrix, place_of
from fractals.scene.model import Scene
from fractals.scene.numbers import log2, width_text

Axes = tuple[tuple[str, str], dict[str, Any]]
ROWS: Axes = ("row", "column"), {}  # those of pixels that have no place in a plane
TOLD_APART = 49  # bits: neighboring samples then differ by 8 units in the last place of float64
LARGEST_EXPONENT = 900  # of two, of a width whose samples' distances are normal float64
WIDTHS = "widths of the view"  # units of lengths in deep views
PARTS = {"real": "real part", "imag": "imaginary part"}


class RawData:
    """The raw numbers of a picture, of any family: arrays of one shape, by name.

    What `fractals.compute` returns is one of these: `EscapeData` of escape-time images and reliefs,
    and `PictureSums` of flames, attractors, Buddhabrots and solids.
    """

    scene: Scene

    @property
    def planes(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name, each of shape (rows, columns); row 0 is the top."""
        raise NotImplementedError

    def notes(self) -> dict[str, dict[str, Any]]:
        """Return the meaning of planes, by name: ``long_name``, maybe ``units``, and more."""
        raise NotImplementedError

    def facts(self) -> dict[str, Any]:
        """Return numbers and texts about all planes."""
        raise NotImplementedError

    def axes(self) -> Axes:
        """Return the dimensions of planes, and the coordinates of their elements."""
        return ROWS

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the raw numbers to a file."""
        raise NotImplementedError

    def to_xarray(self, *colorings: str | Mapping[str, Any], pairs: bool = True) -> Any:
        """Return the arrays as an xarray Dataset, without copying them.

        NetCDF, Zarr and pandas take it as it is. Each variable has a ``long_name``, and ``units``
        if its numbers have a unit. The attributes of the Dataset are the version of the program
        (``source``), the scene as JSON, and numbers such as ``max_iterations``. The coordinates re
        and im are the samples' positions, so ``dataset["count"].plot()`` is the right way up; in
        deep views they are offsets from the center in widths of the view.

        Parameters
        ----------
        *colorings : str or mapping
            Colorings whose values become variables of their own; see `EscapeData.values`. Lengths
            are in plane units, and in widths of the view where the coordinates are.
        pairs : bool
            True: complex numbers are two variables, ``z_real`` and ``z_imag``, because NetCDF has
            no complex numbers. False: they are one, ``z``.

        Raises
        ------
        OptionError
            The package xarray is not installed, or the raw numbers lack what a coloring needs.
        """
        notes, facts, (dimensions, coordinates) = self.notes(), self.facts(), self.axes()
        variables: dict[str, Any] = {}
        for name, plane in self.planes.items():
            note = notes[name]
            if plane.dtype.kind != "c" or not pairs:
                variables[name] = (dimensions, plane, note)
                continue
            for part, words in PARTS.items():
                more = {"long_name": f"{words} of {note['long_name']}"}
                variables[f"{name}_{part}"] = (dimensions, getattr(plane, part), note | more)
        for coloring in colorings:
            name, values, note = self._colored(coloring)
            variables[name] = (dimensions, values, note)
        return _dataset(variables, coordinates, _common(self.scene) | facts)

    def _colored(self, coloring: Any) -> tuple[str, NDArray[Any], dict[str, Any]]:
        raise OptionError(
            f"{type(self).__name__} has no samples with values: colorings are those of escape time"
        )


def _common(scene: Scene) -> dict[str, Any]:
    """Return the attributes of every Dataset; NetCDF takes texts and numbers."""
    facts: dict[str, Any] = {"source": f"fractals {__version__}", "family": scene.family}
    if scene.title:
        facts["title"] = scene.title
    with contextlib.suppress(SceneError):  # a formula of the user's own can't be named
        facts["scene"] = scene.to_json()
    return facts


def _dataset(
    variables: Mapping[str, Any], coordinates: Mapping[str, Any], facts: Mapping[str, Any]
) -> Any:
    try:
        import xarray
    except ImportError:
        raise OptionError(f"xarray is not installed: {to_install('notebook')}") from None
    return xarray.Dataset(dict(variables), coords=dict(coordinates), attrs=dict(facts))


def view_facts(scene: Scene) -> dict[str, str]:
    """Return width and center of a view as decimal text, which has digits that floats lack."""
    width, center = place_of(scene)
    facts = {"view_width": width_text(width)}
    if scene.view.center:
        names = ("view_center_re", "view_center_im")
        return facts | dict(zip(names, map(str, scene.view.center), strict=True))
    return facts | {
        "view_center_re": f"{float(center[0])!r}",
        "view_center_im": repr(float(center[1])),
    }


def resolves(scene: Scene, columns: int) -> bool:
    """Tell whether float64 tells samples apart by their coordinates in the plane."""
    width, center = place_of(scene)
    largest = max(map(abs, (*center, width)))
    near = log2(width) - log2(largest) > math.log2(columns) - TOLD_APART
    return near and abs(log2(width)) < LARGEST_EXPONENT


def axes_of(scene: Scene, shape: tuple[int, int], margin: int = 0) -> Axes:
    """Return the dimensions of a scene's samples, and their coordinates in the plane.

    In a view along the axes the dimensions are im and re. In a rotated or stretched view they are
    row and column, and the coordinates are arrays of both. Where float64 can't tell samples apart,
    coordinates are offsets from the center, in widths of the view. An exponential map has none.

    `shape` has the rows and columns of samples, and `margin` how many of them, at each side, lie
    beyond the edge of the view. Each coordinate has its dimensions, values and attributes, for
    `xarray.Dataset`.
    """
    if scene.view.projection != "plane":
        return ROWS
    rows, columns = shape
    across = columns - 2 * margin
    width, center = place_of(scene)
    a, b, c, d = map(float, matrix(scene.view))
    right = (np.arange(columns) + 0.5 - margin) / across - 0.5  # in widths of the view
    up = (rows / 2 - 0.5 - np.arange(rows)) / across
    fits = resolves(scene, columns)
    unit, x, y = (float(width), *map(float, center)) if fits else (1.0, 0.0, 0.0)
    notes = {name: {"long_name": name} for name in ("re", "im")}
    if not fits:
        notes = {
            name: {"long_name": f"offset of {name} from the center", "units": WIDTHS}
            for name in notes
        }
    if not b and not c:
        return ("im", "re"), {
            "re": ("re", x + unit * a * right, notes["re"]),
            "im": ("im", y + unit * d * up, notes["im"]),
        }
    across_, down = right[None, :], up[:, None]
    both = ("row", "column")
    return both, {
        "re": (both, x + unit * (a * across_ + b * down), notes["re"]),
        "im": (both, y + unit * (c * across_ + d * down), notes["im"]),
    }
