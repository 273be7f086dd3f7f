"""The summary of a picture's counts, on every device and every way of drawing."""

import numpy as np
import pytest
from support.scenes import scene

import fractals


def expected(drawn):
    count = fractals.compute(drawn, device="cpu", on_message=str).count
    limit = drawn.iteration.max_iterations
    escaped = count[count < limit]
    return limit, escaped.min(), escaped.max(), np.mean(count == limit)


def found(made):
    summary = made.summary
    return summary.max_iterations, summary.least_count, summary.greatest_count, summary.inside


@pytest.mark.parametrize("keys", [{}, {"layers": [{"coloring": "count", "opacity": 0.5}]}], ids=str)
def test_the_summary_of_a_picture_is_that_of_its_counts(compiled, keys):
    drawn = scene(supersampling=2, **keys)
    picture = fractals.render(drawn, device=compiled, on_message=str)
    assert found(picture) == pytest.approx(expected(drawn))


def test_the_summary_of_raw_numbers_and_of_what_is_recolored():
    drawn = scene()
    raw = fractals.compute(drawn, device="cpu")
    assert found(raw) == pytest.approx(expected(drawn))
    assert found(fractals.recolor(raw, device="cpu")) == found(raw)


def test_the_summary_tells_the_limit_that_was_found():
    image = fractals.render(
        size=(16, 9), center=("-1.94", "0"), width="1e-16", device="cpu", on_message=str
    )
    assert image.summary.max_iterations >= 1024
    assert image.summary.count_offset > 0


def test_the_summary_without_a_sample_that_escaped():
    summary = fractals.render(size=(8, 6), width="0.01", center=("0", "0"), device="cpu").summary
    assert (summary.least_count, summary.greatest_count, summary.inside) == (None, None, 1)
    assert str(summary) == "no sample escaped, 100 % inside"
