"""No formula of scatter images adds a product without an fma: GPUs would round it once only."""

import inspect
import random

import pytest
from support.products import FusedError, Tagged, marking

from fractals import catalog
from fractals.kernels import space

ARITHMETIC = "fractals.kernels.primitives", "fractals.kernels.elementary"


def watched(monkeypatch, module):
    """Have the functions that a module imports return numbers without a mark."""
    own = {"select": lambda mask, a, b: a if mask else b, "number": lambda v, like: Tagged(v)}
    for name, value in list(vars(module).items()):
        if not inspect.isfunction(value) or value.__module__ == module.__name__:
            continue
        if value.__module__ in ARITHMETIC:
            monkeypatch.setattr(module, name, own.get(name) or marking(value))
        elif value.__module__ == space.__name__:
            monkeypatch.setattr(module, name, getattr(space, name))


def calls(kind, name, dice):
    """Yield the results of a formula at random points."""
    made = catalog.load(kind, name)()
    values = made.parameters.values()

    def some(count, least=-1.5, most=1.5):
        return tuple(Tagged(dice.uniform(least, most)) for _ in range(count))

    for _ in range(60):
        if kind == "variation":
            p = tuple(Tagged(v + dice.uniform(0, 1)) for v in values)
            p += some(6 * made.affine + made.weighted)
            yield made.apply(*some(2), some(made.draws, 0, 1), p)
        elif made.step:
            yield made.step(*some(2), tuple(map(Tagged, values)))
        else:
            yield made.velocity(*some(3), tuple(map(Tagged, values)))


NAMES = [(kind, name) for kind in ("variation", "attractor") for name in catalog.names(kind)]


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_a_formula_leaves_nothing_to_fuse(monkeypatch, kind, name):
    watched(monkeypatch, space)
    watched(monkeypatch, inspect.getmodule(catalog.load(kind, name)))
    assert len(list(calls(kind, name, random.Random(4)))) == 60


def test_a_sum_of_a_product_is_found():
    x = Tagged(0.3)
    assert float(x * 2 + x) == 0.3 * 2 + 0.3  # a power of two: exact
    for wrong in (lambda: x * x + x, lambda: x - x * 3, lambda: 1 - x * x, lambda: -(x * x) - x):
        with pytest.raises(FusedError, match=r"test_fused\.py:\d+"):
            wrong()
