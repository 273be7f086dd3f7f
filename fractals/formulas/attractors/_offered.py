"""Offers a function as an attractor, by the function's name."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from fractals.kernels.attractor import Attractor
from fractals.kernels.formula import with_options

MAKERS: dict[str, Callable[..., Attractor]] = {}  # of all attractors, by name


def offered(parameters: Mapping[str, float], move: str = "step", **how: Any) -> Callable[..., Any]:
    """Return a decorator that offers a step ``(x, y, p)``, whose docstring begins with the title.

    The first line of the docstring may end with who described the attractor, in brackets.
    `parameters` and `how` are fields of `Attractor`, and so is `move`, which the function becomes.
    """

    def offer(function: Callable[..., Any]) -> Callable[..., Any]:
        name, line = function.__name__, (function.__doc__ or "").partition("\n")[0]
        title = line.partition(" (")[0].removesuffix(".")

        @functools.wraps(function)
        def make(**given: float) -> Attractor:
            if given.keys() - parameters.keys():
                raise TypeError("unknown option")
            settings: dict[str, Any] = {"parameters": {**parameters, **given}, move: function}
            return Attractor(name, title, **settings, **how)

        MAKERS[name] = with_options(make, parameters)
        return function

    return offer


flow = functools.partial(offered, move="velocity")  # of a velocity ``(x, y, z, p)``
