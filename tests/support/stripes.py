"""A family of images that another package would have in one file."""

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

import fractals
from fractals import catalog
from fractals.io.image import Image
from fractals.kernels.formula import AnyFormula
from fractals.rendering import families
from fractals.rendering.families import Family


@dataclass(frozen=True)
class Stripes(AnyFormula):
    """Stripes of some width."""

    family: ClassVar[str] = "stripes"
    name: str = "stripes"
    title: str = "Stripes"
    center: tuple[str, str] = ("0", "0")
    width: str = "4"
    parameters: Any = field(default_factory=dict, hash=False)


@dataclass
class StripesPlan:
    scene: fractals.Scene
    seconds: float = 0.5
    samples: int = 48
    memory: int = 2**20

    def to_table(self):
        size = list(self.scene.image.size)
        return {"method": "stripes", "size": size, "seconds": self.seconds, "memory": self.memory}


@dataclass
class StripesData:
    scene: fractals.Scene
    rows: Any


class StripesFamily(Family):
    title = "Stripes: rows in turn"

    def plan(self, scene, options, keeps):
        return StripesPlan(scene)

    def compute(self, scene, options):
        every = scene.make_any_formula().parameters["every"]
        return StripesData(scene, np.arange(scene.image.size[1]) // every % 2)

    def recolor(self, raw, scene, options):
        width, height = scene.image.size
        color = 200 if scene.color.palette == "ember" else 100
        pixels = np.zeros((height, width, 3), np.uint8)
        pixels[raw.rows == 1] = color
        return Image(pixels, scene, {"color": 0.1}, "cpu", "whole", "stripes")

    def render(self, scene, options):
        return self.recolor(self.compute(scene, options), scene, options)


def make_formula(every=2):
    return Stripes(parameters={"every": every})


class Entry:
    def __init__(self, made):
        self.made = made

    def load(self):
        return self.made


@contextmanager
def installed(monkeypatch, family=StripesFamily):
    """Install a family and its formula as two entry points would, and yield a scene of it."""
    own = {"formula": {"stripes": Entry(make_formula)}, "family": {"stripes": Entry(family)}}
    monkeypatch.setattr(catalog, "_installed", lambda kind: own.get(kind, {}))
    caches = catalog._names, catalog.load, families.load
    for cache in caches:
        cache.cache_clear()
    yield {"formula": {"name": "stripes", "every": 3}, "image": {"size": [8, 6]}}
    for cache in caches:
        cache.cache_clear()
