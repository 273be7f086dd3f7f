"""Exact counts where perturbation, or float64, was once wrong, and where it may be."""

import datetime
import json
import os
import random
from pathlib import Path

import pytest
from oracle import attack
from support.scenes import scene

import fractals
from fractals.scene.model import Scene

WEAK = json.loads((Path(__file__).parents[1] / "data" / "weak.json").read_text())["views"]
# One view of each family; the others compile more, or take longer.
OFTEN = (
    "on kinks: burning_ship, -2, 1e-272",
    "flat: beside a minibrot of period 14, its size / 1e10",
    "julia together: c = i, preimage 1 of 0, 1e-9",
    "radius: -2, 1e-30, R = 2",
)
SEED = "FRACTALS_ATTACK_SEED"
VIEWS = "FRACTALS_ATTACK_VIEWS"


def wrong(drawn, pixels):
    """Return column, row, count and true count where they differ."""
    raw = fractals.compute(drawn, device="cpu", on_message=str, cache=False)
    found = [(i, j, int(raw.count[j, i]), n) for i, j, n in pixels]
    return [pixel for pixel in found if pixel[2] != pixel[3]]


@pytest.mark.parametrize(
    "view",
    [
        pytest.param(
            view,
            id=f"{k}-{view['name']}",
            marks=[] if view["name"] in OFTEN else pytest.mark.slow,
        )
        for k, view in enumerate(WEAK)
    ],
)
def test_counts_of_weak_places(view):
    assert wrong(Scene.model_validate(view["scene"]), view["pixels"]) == []


@pytest.mark.slow
def test_attack():
    """Another seed each week; what it finds is a bug, and the message names its seed and place."""
    year, week, _ = datetime.date.today().isocalendar()
    seed = os.environ.get(SEED) or f"{year}-{week}"
    failed, compared = [], 0
    for k, view in enumerate(attack.views(seed, int(os.environ.get(VIEWS) or 28))):
        pixels = view.pixels(random.Random(f"{seed} {k}"))
        compared += len(pixels)
        bad = wrong(scene(**view.table()), pixels)
        if bad:
            failed.append(f"{SEED}={seed}, view {k}, {view.name}: {bad}, {view.table()}")
    assert not failed, "\n".join(failed)
    assert compared > 100, f"{SEED}={seed}"
