"""EscapeData: the raw numbers of a picture's samples, and their files."""

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals import catalog
from fractals.errors import OptionError, SceneError
from fractals.io.raw_check import check_counts, check_numbers, check_planes
from fractals.scene.layers import Layers
from fractals.scene.model import Scene

SUFFIXES = (".fz", ".npz", ".exr")  # a store, a NumPy archive, an OpenEXR picture


@dataclass
class EscapeData:
    """The raw numbers of a picture's samples.

    With a supersampling of n the arrays are n times as high and wide as the picture.

    Attributes
    ----------
    count : ndarray of int32, shape (height, width)
        The smallest n >= 1 with |z_n| > escape_radius; the limit where there is none. Row 0 is the
        top.
    z : ndarray of complex, shape (height, width)
        z_n at that n; 0 where the orbit did not escape.
    dz : ndarray of complex, shape (height, width), or None
        dz_n/dc (dz_n/dz_0 for Julia sets), where the coloring needs it. By perturbation, times the
        width of the view: float64 has no number for it alone. In an exponential map it is dz_n/dc
        times the power of two that a sample's radius was divided by, in a deep strip, and else 1.
    limit : int
        Most steps that were tried.
    timings : dict of str to float
        Seconds of each stage.
    statistics : dict of str to ndarray, shape (height, width)
        Orbit statistics of the colorings, by names such as "stripes,density=5.sum".
    base : int
        In a deep view, about the lowest count: the transfer "auto" counts from there, as all counts
        are large and differ by little.
    exact : bool
        False where z and dz were made of what an EXR keeps: fractions, angles and distances.
    check_rows : callable
        Called with a slice of rows and the names of planes before they are read: raises a
        `SceneError` where the file that they lie in is damaged.
    """

    count: NDArray[np.int32]
    z: NDArray[np.complexfloating[Any, Any]]
    dz: NDArray[np.complexfloating[Any, Any]] | None
    max_iterations: int
    scene: Scene
    timings: dict[str, float] = field(default_factory=dict)
    device: str = ""
    method: str = "direct"
    count_offset: int = 0
    statistics: dict[str, NDArray[np.floating[Any]]] = field(default_factory=dict)
    exact: bool = True
    check_rows: Callable[[slice, Iterable[str]], None] = field(
        default=lambda rows, names: None, repr=False
    )

    @property
    def precision(self) -> str:
        """Return the type that was iterated in, "float64" or "float32"."""
        self.check(counts=False)
        return {8: "float32", 16: "float64"}[self.z.dtype.itemsize]

    def check(self, counts: bool = True) -> None:
        """Raise a `SceneError` where compiled code could read beyond these arrays.

        Parameters
        ----------
        counts : bool
            Also look at every count. False: their tiles are checked on use, as those of a store.
        """
        planes = self.planes
        for name, plane in planes.items():
            if not isinstance(plane, np.ndarray):
                raise SceneError(f"{name} is {type(plane).__name__}, and not an array")
        check_planes(
            {name: plane.dtype for name, plane in planes.items()},
            {name: plane.shape for name, plane in planes.items()},
        )
        check_numbers(self.max_iterations, self.count_offset, self.method)
        if counts:
            check_counts(self.count, self.max_iterations)

    @property
    def planes(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name."""
        planes: dict[str, Any] = {
            "count": self.count,
            "z": self.z,
            "dz": self.dz,
            **self.statistics,
        }
        return {name: plane for name, plane in planes.items() if plane is not None}

    def to_xarray(self) -> Any:
        """Return the arrays as an xarray Dataset, row 0 at the top, without copying them.

        Raises
        ------
        OptionError
            The package xarray is not installed.
        """
        from fractals.io.notebook import dataset

        facts: dict[str, Any] = {"max_iterations": self.max_iterations, "method": self.method}
        with contextlib.suppress(SceneError):  # a formula of the user's own can't be named
            facts["scene"] = self.scene.to_json()
        return dataset(self.planes, facts)

    def _repr_html_(self) -> str:
        from fractals.io.notebook import timings_html

        height, width = self.count.shape
        escaped = int((self.count < self.max_iterations).sum())
        facts = (
            f"{width}x{height} samples ({', '.join(self.planes)}) in {self.precision}: "
            f"{escaped / self.count.size:.1%} escaped, limit {self.max_iterations}"
        )
        return f"<p>{facts}</p>{timings_html(self.timings)}{self.scene._repr_html_()}"

    def save(self, path: str | Path, overwrite: bool = True) -> None:
        """Write the raw numbers to a file whose suffix names its type.

        ``.fz`` is a store (see `fractals.io.store`), ``.npz`` a NumPy archive of count, z, dz where
        there is one, statistics, limit and scene; ``.exr`` is for other programs: it loses
        the last digits and the orbit statistics (see `fractals.io.raw.exr`).

        Raises
        ------
        OptionError
            The suffix is none of these, or numbers from an EXR are to be kept as exact ones.
        FractalsError
            The file can't be written; what was there before is still there, unless it was a store.
        """
        suffix = check_suffix(path)
        self.check(counts=False)
        if not self.exact and suffix != ".exr":
            raise OptionError(
                f"'{path}' keeps z and dz to the last digit, which numbers from an EXR don't have: "
                "recolor the EXR, or compute the scene"
            )
        catalog.load("raw", suffix[1:])().save(self, Path(path), overwrite)

    @staticmethod
    def load(path: str | Path) -> "EscapeData":
        """Read what `save` or `fractals compute` wrote.

        The arrays of a store lie in its files, and are read when they are looked at.

        Raises
        ------
        SceneError
            The file is missing, damaged, not complete, or holds something else.
        """
        suffix = Path(path).suffix.lower()
        name = suffix[1:] if suffix in SUFFIXES else "npz"
        raw: EscapeData = catalog.load("raw", name)().load(Path(path))
        return raw


def check_suffix(path: str | Path) -> str:
    """Return the suffix of a file of raw numbers, or raise an `OptionError`."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise OptionError(f"'{path}': raw numbers go to a file that ends in {', '.join(SUFFIXES)}")
    return suffix


def planes_for(layers: Layers, pair: Any = np.complex128) -> dict[str, np.dtype[Any]]:
    """Return what layers need of each sample, all together: names and types.

    `pair` is the type of complex numbers. A name that is no identifier is an orbit statistic's.
    """
    planes = {"count": np.dtype(np.int32), "z": np.dtype(pair)}
    if layers.derivative:
        planes["dz"] = np.dtype(pair)
    return planes | dict.fromkeys(layers.statistics.names, real_of(pair))


def real_of(pair: Any) -> np.dtype[Any]:
    """Return the type of the parts of a type of complex numbers."""
    return np.zeros((), pair).real.dtype


def parts_of(plane: NDArray[Any]) -> list[NDArray[Any]]:
    """Return a plane as arrays of real numbers, as programs take it: a complex one is two."""
    return [plane.real, plane.imag] if plane.dtype.kind == "c" else [plane]


def arrays_of(planes: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the planes as `EscapeData` takes them; other identifiers are for later versions."""
    statistics = {name: plane for name, plane in planes.items() if not name.isidentifier()}
    return {name: planes.get(name) for name in ("count", "z", "dz")} | {"statistics": statistics}
