"""EscapeData: the raw numbers of a picture's samples, and their file."""

import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.errors import OptionError, SceneError
from fractals.files import check_output, written
from fractals.scene import Scene

SUFFIX = ".npz"
WATCHED = "watched "  # how the names of such arrays begin in a file


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
    watched : dict of str to ndarray, shape (height, width)
        What the colorings watched along the orbits, by names such as "stripes,density=5.sum".
    base : int
        In a deep view, about the lowest count: the transfer "auto" counts from there, as all counts
        are large and differ by little.
    """

    count: NDArray[np.int32]
    z: NDArray[np.complexfloating[Any, Any]]
    dz: NDArray[np.complexfloating[Any, Any]] | None
    limit: int
    scene: Scene
    timings: dict[str, float] = field(default_factory=dict)
    device: str = ""
    method: str = "direct"
    base: int = 0
    watched: dict[str, NDArray[np.floating[Any]]] = field(default_factory=dict)

    @property
    def number(self) -> str:
        """Return the type that was iterated in, "float64" or "float32"."""
        return {8: "float32", 16: "float64"}[self.z.dtype.itemsize]

    def save(self, path: str | Path, overwrite: bool = True) -> None:
        """Write a NumPy archive: count, z, dz where there is one, what was watched, limit, scene.

        Raises
        ------
        OptionError
            The path does not end in ``.npz``.
        FractalsError
            The file can't be written; what was there before is still there.
        """
        if Path(path).suffix.lower() != SUFFIX:
            raise OptionError(f"'{path}': raw numbers go to a file that ends in {SUFFIX}")
        check_output(path, overwrite)
        arrays = {"count": self.count, "z": self.z, "limit": np.int64(self.limit)}
        if self.base:
            arrays["base"] = np.int64(self.base)
        if self.dz is not None:
            arrays["dz"] = self.dz
        arrays |= {WATCHED + name: plane for name, plane in self.watched.items()}
        with written(path) as file:
            np.savez(file, scene=np.array(self.scene.to_json()), **arrays)  # type: ignore[arg-type]

    @staticmethod
    def load(path: str | Path) -> "EscapeData":
        """Read what `save` wrote.

        Raises
        ------
        SceneError
            The file is missing, damaged, or holds something else.
        """
        if Path(path).is_file() and not zipfile.is_zipfile(path):
            raise SceneError(f"{path}: not raw numbers that fractals compute wrote")
        try:
            with np.load(path, allow_pickle=False) as archive:
                scene = Scene.load(json.loads(str(archive["scene"])))
                dz, base = archive.get("dz"), int(archive.get("base", 0))
                planes = [key for key in archive.files if key.startswith(WATCHED)]
                watched = {key.removeprefix(WATCHED): archive[key] for key in planes}
                count, z, limit = archive["count"], archive["z"], int(archive["limit"])
        except FileNotFoundError:
            raise SceneError(f"{path}: no such file") from None
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise SceneError(
                f"{path}: the raw numbers in it are damaged or incomplete ({error})"
            ) from None
        if count.ndim != 2 or z.shape != count.shape or z.dtype.kind != "c":
            raise SceneError(f"{path}: the arrays in it don't fit together")
        if any(p.shape != count.shape or p.dtype != z.real.dtype for p in watched.values()):
            raise SceneError(f"{path}: the arrays in it don't fit together")
        return EscapeData(count, z, dz, limit, scene, base=base, watched=watched)
