"""The raw numbers of a picture's samples: planes of equal shape, their checks, and their files."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from fractals import catalog
from fractals.errors import InputError, OptionError, SceneError, shown
from fractals.io.facts import Summary, Tally
from fractals.io.files import as_path
from fractals.io.raw_data import Axes, RawData, axes_of, view_facts
from fractals.kernels.formula import Formula
from fractals.meant import Hinting, Hints, writer_of
from fractals.scene.geometry import Layers, matrix, place_of
from fractals.scene.model import MAX_ITERATIONS, Scene

# Checks raw numbers of any origin before compiled code, which has no bounds checks, reads them.


COUNT = np.dtype(np.int32)
# The type of the parts of each type of complex numbers.
REALS = {np.dtype("c16"): np.dtype("f8"), np.dtype("c8"): np.dtype("f4")}
METHODS = ("direct", "perturbation")
MAX_COUNT_OFFSET = 2**31 - 1


def check_planes(types: Mapping[str, np.dtype[Any]], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise an `InputError` where planes have types or shapes that a picture can't be drawn from.

    Both are by the names of planes in `EscapeData`: ``count``, ``z``, ``dz`` and statistics.
    """
    for name in ("count", "z"):
        if name not in types:
            raise InputError(f"the plane {name} is missing")
    shape = shapes["count"]
    if len(shape) != 2 or 0 in shape:
        raise InputError(f"count has the shape {shown(shape)}, and not (height, width)")
    if types["count"] != COUNT:
        raise InputError(f"count is of {shown(types['count'])}, and not of int32")
    if types["z"] not in REALS:
        raise InputError(f"z is of {shown(types['z'])}, and not of complex128 or complex64")
    for name, dtype in types.items():
        label, wanted = shown(name, 80), REALS[types["z"]]
        if name in ("count", "z", "dz"):
            wanted = types["count" if name == "count" else "z"]
        if dtype != wanted:
            raise InputError(f"{label} is of {shown(dtype)}, and not of {wanted}")
        if shapes[name] != shape:
            raise InputError(
                f"{label} has the shape {shown(shapes[name])}, and count has {shown(shape)}"
            )


def check_numbers(max_iterations: Any, count_offset: Any, method: Any) -> None:
    """Raise an `InputError` where the limit, the offset or the method is invalid."""
    if not _whole(max_iterations) or not 1 <= max_iterations <= MAX_ITERATIONS:
        raise InputError(
            f"max_iterations is {shown(max_iterations, 40)}, and not a whole number from 1 to "
            f"{MAX_ITERATIONS}"
        )
    if not _real(count_offset) or not 0 <= count_offset <= MAX_COUNT_OFFSET:
        raise InputError(
            f"count_offset is {shown(count_offset, 40)}, and not a number from 0 to "
            f"{MAX_COUNT_OFFSET}"
        )
    if method not in METHODS:
        raise InputError(f"the method '{shown(method, 40)}' is neither {' nor '.join(METHODS)}")


def check_counts(count: NDArray[Any], max_iterations: int) -> None:
    """Raise an `InputError` where counts are not from 0 to `max_iterations`.

    z, dz and statistics may be infinite or NaN, because the shading kernels limit every value
    before they use it as an index.
    """
    if not count.size:
        return
    least, most = int(count.min()), int(count.max())
    if least < 0 or most > max_iterations:
        wrong = least if least < 0 else most
        raise InputError(f"a count of {wrong} is not from 0 to max_iterations ({max_iterations})")


def _real(value: Any) -> bool:
    return _whole(value) or isinstance(value, float | np.floating)


def _whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


STORE = ".fz"  # the suffix of a store: see `fractals.io.stores.store`
SUFFIXES = (STORE, ".npz", ".exr")  # a store, a NumPy archive, an OpenEXR picture


def no_check(rows: slice, names: Iterable[str]) -> None:
    """Check nothing: the arrays lie in memory."""


class Beyond(NamedTuple):
    """The z that are too large: kernels have finite numbers in their place, whose angles are right.

    Exponentials end at e**700 in kernels (e**86 in float32), because an infinite one would make
    angles NaN.
    """

    samples: NDArray[np.int64]  # their numbers, row by row
    z: NDArray[np.complexfloating[Any, Any]]  # the numbers of kernels


# Numbers from which on a formula with exponentials may have overflowed, by bytes of z. A factor of
# the formula, such as a small c, may make them smaller than e**700 / 2 = 5e303 (e**86 / 2 = 1e37).
OVERFLOWED = {16: 1e290, 8: 1e30}
EXPONENTIALS = {"exp", "sinhcosh"}


@dataclass(eq=False, repr=False)
class EscapePlanes(Hints, RawData, metaclass=Hinting):
    """The raw numbers of a picture's samples, with their checks and files.

    The fields are explained in `fractals.EscapeData`, which adds the values of colorings.
    """

    count: NDArray[np.int32]
    z: NDArray[np.complexfloating[Any, Any]]
    dz: NDArray[np.complexfloating[Any, Any]] | None
    max_iterations: int
    scene: Scene
    timings: dict[str, float] = field(default_factory=dict)
    device: str = ""
    method: str = "direct"
    count_offset: float = 0.0
    statistics: dict[str, NDArray[np.floating[Any]]] = field(default_factory=dict)
    exact: bool = field(default=True, kw_only=True)
    beyond: Beyond | None = field(default=None, kw_only=True)
    check_rows: Callable[[slice, Iterable[str]], None] = field(default_factory=lambda: no_check)

    def __post_init__(self) -> None:
        shape = getattr(self.count, "shape", ())
        if len(shape) != 2 or self.count.dtype != np.int32:
            raise OptionError("count: give a NumPy array of int32, shape (height, width)")
        for name, plane in self.planes.items():
            if not isinstance(plane, np.ndarray):
                raise OptionError(f"{name} is {type(plane).__name__}, and not an array")
            if plane.shape != shape:
                raise OptionError(f"{name} has the shape {plane.shape}, and count has {shape}")
        if self.z.dtype not in (np.complex64, np.complex128):
            raise OptionError(f"z of type {self.z.dtype}: give complex128 or complex64")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EscapePlanes):
            return NotImplemented
        first, second = self.planes, other.planes
        facts = (self.scene, self.max_iterations, self.count_offset, first.keys())
        if facts != (other.scene, other.max_iterations, other.count_offset, second.keys()):
            return False
        return all(
            plane.dtype == second[name].dtype
            and np.array_equal(plane, second[name], equal_nan=plane.dtype.kind != "i")
            for name, plane in first.items()
        )

    __hash__ = None  # type: ignore[assignment]  # arrays can change

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle or a copy keeps: the arrays of a store are then in memory."""
        self.check_rows(slice(0, self.count.shape[0]), self.planes)
        facts = {name: value for name, value in vars(self).items() if name not in self.planes}
        held = {name: np.array(plane) for name, plane in self.planes.items()}
        return facts | arrays_of(held) | {"check_rows": no_check}

    def __copy__(self) -> Self:
        return replace(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the counts."""
        return np.array(self.count, dtype) if copy else np.asarray(self.count, dtype)

    @property
    def shape(self) -> tuple[int, int]:
        """Return the shape of the arrays: height and width in samples."""
        height, width = self.count.shape
        return height, width

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Return where the count is `max_iterations`, as an array of the same shape."""
        return np.asarray(self.count == self.max_iterations)

    def __repr__(self) -> str:
        height, width = self.count.shape
        facts = (self.scene.title and repr(self.scene.title), self.device, self.method)
        shown = [f"{width}x{height} samples", f"max_iterations={self.max_iterations}"]
        return f"{type(self).__name__}({', '.join([*shown, *filter(None, facts)])})"

    @property
    def summary(self) -> Summary:
        """Return the limit of iterations, the least and greatest count, and the share inside."""
        tally = Tally()
        tally.add_counts(self.count, self.max_iterations)
        return tally.summary(self.max_iterations, self.count_offset)

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Return left, right, bottom and top of the picture in the plane, as matplotlib takes them.

        In deep views the four floats can be equal, because float64 has 17 digits.

        Raises
        ------
        OptionError
            The view is rotated, stretched or projected, so its edges are not those of a rectangle
            along the axes.
        """
        view = self.scene.view
        a, b, c, d = matrix(view)
        if view.projection != "plane" or b or c:
            raise OptionError(
                "the extent is that of a view without rotation, stretch and projection: "
                "use scene.replace(rotation=0, stretch=1, projection='plane')"
            )
        width, (x, y) = place_of(self.scene)
        across, down = self.scene.image.size
        right, up = a * width / 2, d * width * down / across / 2
        return float(x - right), float(x + right), float(y - up), float(y + up)

    @property
    def precision(self) -> Literal["float64", "float32"]:
        """Return the type of the raw numbers; those of double-double numbers are the high parts."""
        self.check(counts=False)
        return "float32" if self.z.dtype.itemsize == 8 else "float64"

    def check(self, *, counts: bool = True) -> None:
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

    def axes(self) -> Axes:
        """Return the dimensions of the arrays, and the coordinates of samples."""
        return axes_of(self.scene, self.shape)

    def notes(self) -> dict[str, dict[str, Any]]:
        """Return the meaning of the arrays, by name."""
        ends = "the orbit escaped or converged"
        by = "z_0" if self.scene.julia else "c"
        found: dict[str, dict[str, Any]] = {
            "count": {"long_name": f"steps until {ends}, or max_iterations", "units": "steps"},
            "z": {"long_name": f"the orbit's point where {ends}, or 0"},
            "dz": {
                "long_name": f"dz/d{by} at z, times multiplied_by",
                "multiplied_by": self._scale_of_dz(),
            },
        }
        return found | {name: {"long_name": name} for name in self.statistics}

    def _scale_of_dz(self) -> str:
        """Return what dz is multiplied by, as text: a width may be smaller than floats are."""
        if self.method != "perturbation":
            return "1"
        if self.scene.view.projection == "plane":
            return view_facts(self.scene)["view_width"]
        return "a power of two for each row, by which its radius was divided"

    def facts(self) -> dict[str, Any]:
        """Return numbers and texts about all arrays."""
        image, iteration = self.scene.image, self.scene.iteration
        return {
            "max_iterations": self.max_iterations,
            "escape_radius": iteration.escape_radius,
            "count_offset": self.count_offset,
            "method": self.method,
            "supersampling": image.supersampling,
            **view_facts(self.scene),
        }

    def _repr_html_(self) -> str:
        from fractals.io.web_page import timings_html

        height, width = self.count.shape
        escaped = int((self.count < self.max_iterations).sum())
        facts = (
            f"{width}x{height} samples ({', '.join(self.planes)}) in {self.precision}: "
            f"{escaped / self.count.size:.1%} escaped, limit {self.max_iterations}"
        )
        return f"<p>{facts}</p>{timings_html(self.timings)}{self.scene._repr_html_()}"

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the raw numbers to a file.

        Parameters
        ----------
        path : str or Path
            The suffix names the type: ``.fz``, a store (see `fractals.io.stores.store`); ``.npz``,
            a NumPy archive of all arrays and the scene; or ``.exr``, for other programs: it loses
            the last digits, and what was accumulated along orbits (see `fractals.io.raw.exr`).
        overwrite : bool
            True: an existing file is replaced.

        Raises
        ------
        OptionError
            The suffix is none of these, or numbers from an EXR are to be kept as exact ones.
        FractalsError
            The file exists, or can't be written; an existing file is unchanged, unless it is a
            store.
        """
        suffix = check_suffix(path)
        self.check(counts=False)
        if not self.exact and suffix != ".exr":
            raise OptionError(
                f"'{path}' keeps z and dz to the last digit, which numbers from an EXR don't have: "
                "recolor the EXR, or compute the scene"
            )
        begun = perf_counter()
        catalog.load("raw", suffix[1:])().save(self, Path(path), overwrite)
        self.timings["encode"] = perf_counter() - begun

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the raw numbers of a file that `save` or `fractals compute` wrote.

        The arrays of a store are memory-mapped: they are read from its files on use.

        Parameters
        ----------
        path : str or Path
            Ending in ``.fz``, ``.npz`` or ``.exr``.

        Raises
        ------
        InputError
            The file is missing, damaged, not complete, or holds something else.
        """
        path = as_path(path)
        suffix = path.suffix.lower()
        name = suffix[1:] if suffix in SUFFIXES else "npz"
        raw = catalog.load("raw", name)().load(path)
        return cls(**vars(raw))


def check_suffix(path: str | Path) -> str:
    """Return the suffix of a file of raw numbers, or raise an `OptionError`."""
    suffix = as_path(path).suffix.lower()
    if suffix not in SUFFIXES:
        ends = ", ".join(SUFFIXES) + writer_of(suffix)
        raise OptionError(f"'{path}': raw numbers go to a file that ends in {ends}")
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


Raw = TypeVar("Raw", bound=EscapePlanes)


def without_overflows(raw: Raw, formula: Formula) -> Raw:
    """Return raw numbers whose z are infinite where they overflowed; the array of z is changed."""
    if not EXPONENTIALS & _names(formula.step):
        return raw
    z, most = raw.z, OVERFLOWED[raw.z.dtype.itemsize]
    samples = np.flatnonzero((abs(z.real) >= most) | (abs(z.imag) >= most))
    if not len(samples):
        return raw
    own = z.flat[samples]
    z.real.flat[samples] = np.copysign(np.inf, own.real)
    z.imag.flat[samples] = np.copysign(np.inf, own.imag)
    return replace(raw, beyond=Beyond(samples, own))


def with_directions(raw: Raw) -> Raw:
    """Return raw numbers with the finite z that colorings read, in place of infinite ones."""
    if raw.beyond is None:
        return raw
    z, (samples, own) = raw.z.copy(), raw.beyond
    z.flat[samples] = np.where(np.isinf(z.flat[samples]), own, z.flat[samples])
    return replace(raw, z=z, beyond=None)


def _names(function: Any) -> set[str]:
    """Return the names that a function, and those that it is made of, refer to."""
    code = getattr(function, "__code__", None)
    if code is None:
        return set()
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return {*code.co_names}.union(*(_names(part) for part in cells))
