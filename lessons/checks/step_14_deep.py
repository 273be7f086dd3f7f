"""Checks numbers of digits."""

from decimal import Decimal


def check(answer):
    for width, pixels in (("3", 300), ("1e-60", 384), ("2.5e-13", 1920), ("1e-1086", 1000)):
        found = answer.digits(width, pixels)
        assert isinstance(found, int), f"digits returns {found!r}: return an integer"
        apart = Decimal(width) / pixels
        what = f"width {width}, {pixels} pixels: pixels are {apart:.2g} apart"
        assert Decimal(1).scaleb(-found) <= apart, f"{what}, so {found} decimals are too few"
        more = Decimal(1).scaleb(-found + 4)
        assert more > apart, f"{what}: {found} decimals are more than needed"
