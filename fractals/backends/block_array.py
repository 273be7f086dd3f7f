"""Arrays in the memory of a GPU, as the host sees them: a place, a shape and a type of numbers."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np


class BlockArray(ABC):
    """An array without gaps in a block of memory: from an element of the block on.

    It is passed to programs, copied, and cut into parts, which keep the block. `block`: a
    `fractals.backends.streams.Block`.
    """

    __slots__ = ("block", "dtype", "offset", "shape")

    def __init__(self, block: Any, shape: Sequence[int], dtype: Any, offset: int = 0) -> None:
        self.block, self.offset = block, offset
        self.shape: tuple[int, ...] = tuple(shape)
        self.dtype: np.dtype[Any] = np.dtype(dtype)

    @property
    def slot(self) -> Any:
        """The stream that fills the array."""
        return self.block.slot

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def first_byte(self) -> int:
        """Where the array begins in its block."""
        return self.offset * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Self:
        """Return the elements of one index, or of a range of indices, of the first dimension."""
        length, inner = self.shape[0], self.size // max(1, self.shape[0])
        if isinstance(index, slice):
            begin, end, step = index.indices(length)
            if step != 1:
                raise IndexError("a part of an array on the device has no gaps")
            return self._part((max(0, end - begin), *self.shape[1:]), begin * inner)
        begin = range(length)[index]
        return self._part(self.shape[1:], begin * inner)

    def reshape(self, *shape: int) -> Self:
        """Return the same elements in another shape."""
        return self._part(shape, 0)

    def from_column(self, first: int) -> Self:
        """Return the array without its first columns, for programs that read no place beyond it.

        Its shape is that of the whole array, by which programs find the rows; so the last columns
        of the last row lie behind the end.
        """
        return self._part(self.shape, first)

    @abstractmethod
    def _part(self, shape: Sequence[int], begin: int) -> Self:
        """Return an array of the same block that begins some elements later."""
