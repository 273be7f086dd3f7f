"""Offers a function as a variation of flames, by the function's name."""

from collections.abc import Callable, Mapping
from typing import Any

from fractals.scatter.game import Variation

MAKERS: dict[str, Callable[[], Variation]] = {}  # of all variations, by name


def offered(parameters: Mapping[str, float] | None = None, **how: Any) -> Callable[..., Any]:
    """Return a decorator that offers ``apply(x, y, u, p)``, whose docstring is the title.

    `parameters` and `how` are fields of `Variation`. An underscore behind a function's name is no
    part of the variation's.
    """

    def offer(apply: Callable[..., Any]) -> Callable[..., Any]:
        name = apply.__name__.removesuffix("_")
        title = (apply.__doc__ or name).removesuffix(".")
        MAKERS[name] = lambda: Variation(name, title, apply, dict(parameters or {}), **how)
        return apply

    return offer
