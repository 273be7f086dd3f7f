"""The summary of a picture's counts, on every device and every way of drawing."""

import tomllib
from pathlib import Path

import numpy as np
import pytest
from support.scenes import scene

import fractals
from fractals.io.facts import checked
from fractals.io.tables import read_resolved


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


DEEP = {"center": ("-1.94", "0"), "width": "1e-16", "size": (16, 10), "supersampling": 1}


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp", ".tif"])
def test_a_picture_tells_what_auto_was_and_draws_itself_again(tmp_path, suffix):
    first, again, zoomed = (tmp_path / f"{name}{suffix}" for name in ("a", "b", "c"))
    made = fractals.render_to(first, **DEEP, device="cpu", on_message=str)
    fractals.render_to(again, first, device="cpu", on_message=str)
    assert again.read_bytes() == first.read_bytes()
    assert read_resolved(first) == {
        "max_iterations": made.summary.max_iterations,
        "count_offset": made.summary.count_offset,
        "transfer": "log",
        "palette": "lagoon",
    }
    # The scene keeps "auto", so that another view has values of its own.
    fractals.render_to(zoomed, first, width="1e-3", device="cpu", on_message=str)
    assert read_resolved(zoomed)["count_offset"] == 0


def test_a_saved_picture_and_a_recolored_one_tell_what_auto_was(tmp_path):
    paths = [tmp_path / f"{name}.png" for name in "abcd"]
    layers = [{"coloring": "slopes"}]
    fractals.render_to(paths[0], **DEEP, layers=layers, device="cpu", on_message=str)
    fractals.render(**DEEP, layers=layers, device="cpu", on_message=str).save(paths[1])
    raw = fractals.compute(**DEEP, layers=layers, device="cpu", on_message=str)
    fractals.recolor(raw, device="cpu", on_message=str).save(paths[2])
    fractals.recolor_to(paths[3], raw, device="cpu", on_message=str)
    assert len({path.read_bytes() for path in paths}) == 1
    assert read_resolved(paths[0])["layers"][0]["blend"] == "multiply"


def test_show_prints_what_auto_was(run):
    fractals.render_to("a.png", **DEEP, device="cpu", on_message=str)
    _, out, _ = run("show", "a.png")
    resolved = tomllib.loads(out.decode())["resolved"]
    assert resolved == read_resolved(Path("a.png"))
    Path("b.toml").write_bytes(out)
    assert fractals.load_scene("b.toml") == fractals.load_scene("a.png")


@pytest.mark.parametrize(
    "resolved",
    [7, {"max_iterations": 0}, {"count_offset": float("nan")}, {"transfer": "log\n[view]"}],
    ids=str,
)
def test_what_auto_was_is_checked(resolved):
    assert checked(resolved) == {}
