"""Numbers that know whether they are products: a sum of one may be fused by a compiler of GPUs.

Then a GPU rounds once where a CPU rounds twice. So kernels write each ``a * b + c`` as an fma.
"""

import sys


class Tagged(float):
    """A number; `product`: whether it is the result of a multiplication that was rounded."""

    product = False

    def _times(self, other):
        found = Tagged(float(self) * float(other))
        # A product with a power of two is exact, and so is the fused sum.
        exact = any(abs(float(v)) in POWERS for v in (self, other))
        found.product = not exact
        return found

    def _sum(self, other, sign):
        for each in (self, other):
            if getattr(each, "product", False):
                raise FusedError(f"a product is added to a number: {place()}")
        return Tagged(float(self) + sign * float(other))

    def __neg__(self):
        found = Tagged(-float(self))
        found.product = self.product
        return found

    def __abs__(self):
        return Tagged(abs(float(self)))

    __mul__ = __rmul__ = _times

    def __add__(self, other):
        return self._sum(other, 1)

    __radd__ = __add__

    def __sub__(self, other):
        return self._sum(other, -1)

    def __rsub__(self, other):
        return (-self)._sum(other, 1)

    def __truediv__(self, other):
        return Tagged(float(self) / float(other)) if float(other) else Tagged(0.0)

    def __rtruediv__(self, other):
        return Tagged(float(other) / float(self)) if float(self) else Tagged(0.0)


POWERS = {2.0**k for k in range(-60, 60)} | {0.0}


class FusedError(Exception):
    """A sum that a compiler may fuse."""


def place():
    """Return the file and the line of the formula that adds."""
    frame = sys._getframe()
    while frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"


def tagged(values):
    """Return the results of a function as numbers without a mark, in the same tuples."""
    if isinstance(values, tuple):
        return tuple(map(tagged, values))
    return Tagged(values) if isinstance(values, float) else values


def marking(function):
    """Return a function of the elementary or primitive kind whose results have no mark."""

    def marked(*arguments):
        plain = [float(v) if isinstance(v, Tagged) else v for v in arguments]
        return tagged(function(*plain))

    return marked
