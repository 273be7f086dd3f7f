"""Offers a function as an attractor, by the function's name."""

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

from fractals.kernels.attractor import Attractor
from fractals.kernels.formula import explained, with_options

MAKERS: dict[str, Callable[..., Attractor]] = {}  # of all attractors, by name


TURNS = {
    "turn": "degrees by which the flow is turned about the z axis",
    "tilt": "degrees of the eye above the plane of x and y",
}


def offered(
    parameters: Mapping[str, float], law: str, move: str = "step", **how: Any
) -> Callable[..., Any]:
    """Return a decorator that offers a step ``(x, y, p)``, whose docstring begins with the title.

    `law`: the equations of the step, parted by "; ". Those in which a parameter is say what it
    means.

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

        found = {key: _equations(law, key) or TURNS[key] for key in parameters}
        MAKERS[name] = explained(**found)(with_options(make, parameters))
        return function

    return offer


def _equations(law: str, parameter: str) -> str:
    parts = law.split("; ")
    return "; ".join(part for part in parts if re.search(rf"\b{parameter}\b", part))


flow = functools.partial(offered, move="velocity")  # of a velocity ``(x, y, z, p)``
