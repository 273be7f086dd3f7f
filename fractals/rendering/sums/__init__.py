"""Sums of whole numbers: kept in stores, continued, and added up by many machines."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class PictureSums:
    """The sums of a picture: equal where all parts are, and an array for NumPy."""

    sums: NDArray[np.int64]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = vars(self), vars(other)
        return all(np.array_equal(mine[name], theirs[name]) for name in mine)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the sums."""
        return np.array(self.sums, dtype) if copy else np.asarray(self.sums, dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the sums: rows, columns, and numbers of a pixel or bucket."""
        return self.sums.shape
