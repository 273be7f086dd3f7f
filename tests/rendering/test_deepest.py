"""The pitfall of very deep views: references so small that z, Z and their sum need care."""

import numpy as np
import pytest
from support.deep import nothing_skipped
from support.scenes import scene

import fractals


@pytest.mark.slow
def test_skipping_changes_nothing_where_references_are_tiny(locations):
    """A Z_0 that takes part in a sum of numbers with exponents swallows z after each rebasing."""
    place = locations["rf_e22522"]
    width, height = (16, 9)
    mantissa, _, exponent = place["height"].lower().partition("e")
    drawn = scene(
        center=[place["re"], place["im"]],
        width=f"{float(mantissa) * width / height:.15g}e{exponent or 0}",
        max_iterations=int(place["max_iter"]),
        size=(width, height),
    )
    plan = fractals.plan(drawn)
    assert plan.extended
    skipped = fractals.compute(drawn, device="cpu", force=True)
    with nothing_skipped():
        plain = fractals.compute(drawn, device="cpu", force=True)
    assert len(np.unique(plain.count)) > 10
    assert np.mean(skipped.count != plain.count) < 0.05  # unstable ones
