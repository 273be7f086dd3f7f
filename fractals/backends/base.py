"""The protocol that a backend fills in."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from fractals.programs import Target

MakeBody = Callable[..., Callable[..., None]]
Run = Callable[..., None]


class Backend(Protocol):
    """Who compiles and runs pixel programs here, and where its arrays live."""

    kind: str
    threads: int  # how many work on tiles; 0: the calling one, as a GPU's context belongs to it
    real: type[np.floating[Any]]
    target: Target

    def compile(self, make_body: MakeBody, *options: Any) -> Run:
        """Return ``run(out, *arguments)``, which fills the elements of `out`."""

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an uninitialised array on the device."""

    def to_device(self, array: Any) -> Any:
        """Return a NumPy array's contents on the device."""

    def to_host(self, array: Any, into: Any) -> None:
        """Copy what is on the device into a NumPy array; work begun before is then done."""

    def synchronize(self) -> None:
        """Wait until what was begun is done."""


class HostMemory:
    """Arrays of a backend that computes in the memory of the host."""

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return an uninitialised array."""
        return np.empty(shape, dtype)

    def to_device(self, array: Any) -> Any:
        """Return the array itself."""
        return array

    def to_host(self, array: Any, into: Any) -> None:
        """Copy the array."""
        into[...] = array

    def synchronize(self) -> None:
        """Do nothing: work is done when its call returns."""
