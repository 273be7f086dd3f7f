"""Stores of solids: sums of the light of samples; see `fractals.rendering.stores.sums`.

A chunk is a row with all samples that are missing. The header says how many ``samples`` the rows
so far have, and how many those after them had ``before``. So a store goes on with more samples.
"""

import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.errors import OptionError, counted
from fractals.io.stores.store import check_program
from fractals.rendering.options import RenderOptions, StoreOptions
from fractals.rendering.stores.compute_store import Computed
from fractals.rendering.stores.sums import (
    ANOTHER,
    Numbers,
    PictureSums,
    Play,
    SumKind,
    SumStore,
    check_same,
    check_sums,
    compute_sums_to,
)
from fractals.scene.model import Scene
from fractals.scene.space import SOURCES
from fractals.space.light import ONE
from fractals.space.plan import SolidPlan, effort_of, numbers_of, sources_of
from fractals.space.trace import CHECKED, Tracing, open_tracing
from fractals.threads import Progress, add

SUMS = 6  # version of what samples add up to: raised where rays or light of a picture change
CHANGED = ("light.samples",)  # keys that change no light of a sample
COLORS = ("red", "green", "blue")
SOURCE_NAMES = ("sun", "horizon", "zenith", "ground", "emission")  # in the order of `sources_of`
TABLES = ("camera", "light", "iteration")  # that hold keys which do, besides color


@dataclass(eq=False, repr=False)
class LightSums(PictureSums):
    """The light of a solid's picture, added up."""

    store = __name__
    scene: Scene
    sums: NDArray[np.int64]  # red, green, blue and shares; shape (rows, columns, numbers)
    chunks: int  # rows that have all samples
    each: int  # samples of a pixel of these rows
    before: int  # samples of a pixel of the other rows

    @property
    def channels(self) -> tuple[str, ...]:
        """Return the names of the numbers of a pixel."""
        shares = [f"{name}.{color}" for name in SOURCE_NAMES for color in COLORS]
        return (*COLORS, *shares)[: self.sums.shape[-1]]

    def notes(self) -> dict[str, dict[str, Any]]:
        """Return the meaning of the sums, by name."""
        words = {name: f"{name} of the light, linear" for name in COLORS}
        words |= {name: f"share of {name} in the light" for name in self.channels[3:]}
        more = {"one_sample": int(ONE)}
        return {
            name: {"long_name": f"{text}: a sum over samples, times one_sample", **more}
            for name, text in words.items()
        }

    def facts(self) -> dict[str, Any]:
        """Return numbers about all sums."""
        return self.to_table()

    @property
    def samples(self) -> int:
        """Return how many paths were traced."""
        width, height = self.scene.image.size
        return width * (self.chunks * self.each + (height - self.chunks) * self.before)

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"samples_per_pixel": self.each, "rows": self.chunks, "paths": self.samples}

    def __str__(self) -> str:
        height = self.scene.image.size[1]
        rest = f", {self.before} in the other rows" if self.chunks < height else ""
        return f"{counted(self.each, 'sample a pixel')} in {self.chunks} of {height} rows{rest}"

    def answers(self, plan: SolidPlan) -> bool:
        """Tell whether a plan asks for this light, and not for that of fewer samples."""
        return self.samples == plan.samples

    def even(self) -> tuple[NDArray[np.int64], int]:
        """Return sums as if all rows had as many samples, and how many these are."""
        height = self.scene.image.size[1]
        if self.chunks == height:
            return self.sums, self.each
        if not self.before:
            raise OptionError(f"{self.chunks} of {height} rows are there: compute the store first")
        sums = self.sums.copy()
        sums[self.chunks :] = sums[self.chunks :] * self.each // self.before
        return sums, self.each


@dataclass(frozen=True)
class LightPlan:
    """What a plan of a store says, for samples that follow others."""

    tracing: Tracing
    before: int  # samples that all rows have already

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tracing.plan, name)

    @property
    def chunks(self) -> int:
        """Return how many rows there are."""
        height: int = self.tracing.plan.scene.image.size[1]
        return height

    @property
    def seconds(self) -> float:
        """Return a rough estimate of the seconds."""
        whole = self.tracing.plan
        return whole.seconds * (1 - self.before / whole.samples_per_pixel)


class LightAdder:
    """Adds up the light of a picture; see `fractals.rendering.stores.sums.Adder`."""

    def __init__(self, tracing: Tracing, before: int = 0) -> None:
        self.tracing, self.before = tracing, before
        self.plan = LightPlan(tracing, before)

    @property
    def each(self) -> int:
        """Return how many samples a pixel has in the end."""
        return self.tracing.plan.samples_per_pixel

    def none(self) -> LightSums:
        """Return the light of no row."""
        scene = self.tracing.plan.scene
        width, height = scene.image.size
        sums = np.zeros((height, width, numbers_of(scene)), np.int64)
        return LightSums(scene, sums, 0, self.each, self.before)

    def add(self, total: LightSums, last: int, progress: Progress | None) -> LightSums:
        """Return light with that of the rows that follow."""
        rows = range(total.chunks, last)
        fresh = np.zeros((len(rows), *total.sums.shape[1:]), np.int64)
        if self.before:
            self.tracing.add(fresh, rows, self.before, self.each, progress)
        else:
            self.tracing.fill(fresh, rows, progress)
        return self.join(total, last, fresh, {})

    def join(self, total: LightSums, last: int, sums: NDArray[np.int64], _: Numbers) -> LightSums:
        """Return light with that of rows that were traced elsewhere."""
        whole = total.sums if total.sums.flags.writeable else total.sums.copy()
        whole[total.chunks : last] += sums
        return replace(total, sums=whole, chunks=last)

    def rows_of(self, first: int, last: int) -> slice:
        """Return the rows of some chunks."""
        return slice(first, last)

    def numbers(self, total: LightSums) -> dict[str, int]:
        """Return the numbers of a header; of all rows, they do not tell how it came."""
        done = total.chunks == self.plan.chunks
        return {"samples": total.each, "before": total.each if done else total.before}

    def numbers_of_part(self, total: LightSums) -> dict[str, int]:
        """Return no numbers."""
        return {}

    def only(self, total: LightSums, first: int) -> LightSums:
        """Return light as it is."""
        return total

    def facts(self) -> dict[str, Any]:
        """Return what the sums depend on."""
        found = all_facts(self.tracing.plan.scene)
        return {**found, "samples": self.each, "before": self.before, "sums": SUMS}

    def short_sum(self) -> int:
        """Return the CRC-32 of the light of a small picture."""
        plan = self.tracing.plan
        small = replace(plan, scene=plan.scene.replace(size=CHECKED))
        sums = np.zeros((CHECKED[1], CHECKED[0], 3), np.int64)
        Tracing(small, self.tracing.backend).add(sums, range(CHECKED[1]), 0, 1, None)
        return zlib.crc32(sums.data)

    def check_sent(self) -> None:
        """Raise an `OptionError` for a solid that workers do not have."""
        solid = self.tracing.plan.solid
        for each in (solid, *solid.sequence):
            if not each.step.__module__.startswith("fractals."):
                raise OptionError(
                    "a formula from a Python file can't be sent to the workers of a cluster"
                )


def _shape(scene: Scene, numbers: Numbers) -> tuple[int, int, int]:
    width, height = scene.image.size
    before, each, chunks = (numbers[key] for key in ("before", "samples", "chunks"))
    if not (before <= each and each > 0 and chunks <= height):
        raise ValueError("rows and samples don't fit together")
    return height, width, numbers_of(scene)


def _light(scene: Scene, sums: NDArray[np.int64], numbers: Numbers) -> LightSums:
    return LightSums(scene, sums, numbers["chunks"], numbers["samples"], numbers["before"])


def _open(scene: Scene, options: RenderOptions) -> LightAdder:
    """Return what adds up the light of a scene."""
    return LightAdder(open_tracing(scene, options, "store"))


def _resume(store: SumStore, adder: LightAdder) -> tuple[LightAdder, LightSums]:
    """Return what goes on with a store, and its light.

    Rows that were begun get the samples of the others first.
    """
    check_same(
        all_facts(store.scene),
        all_facts(adder.tracing.plan.scene),
        f"'{store.name}' is there, of another scene",
        ANOTHER,
    )
    check_program(store.program, store.name)
    check_sums(store, SUMS)
    light: LightSums = store.load()
    done = light.chunks == store.shape[0]
    if done and adder.each > light.each:
        light = replace(light, chunks=0, before=light.each)
    if light.chunks == 0:
        light = replace(light, each=max(adder.each, light.each))
    scene = store.scene
    if effort_of(scene).most != light.each:
        scene = scene.replace(samples=light.each)
    tracing = Tracing(replace(adder.tracing.plan, scene=scene), adder.tracing.backend)
    return LightAdder(tracing, light.before), replace(light, scene=scene)


def _reopen(adder: LightAdder, numbers: Numbers) -> LightAdder:
    return LightAdder(adder.tracing, numbers["before"])


KIND = SumKind(
    __name__,
    "solid",
    5,
    "solids",
    "rows",
    ("samples", "before"),
    ("samples", "before"),
    (),
    _shape,
    _light,
    _open,
    _resume,
    _reopen,
    lambda plan: SUMS,
)


def compute_light_to(
    path: Path, scene: Scene, options: RenderOptions, store_options: StoreOptions, play: Play
) -> Computed:
    """Compute the light of a solid's picture into a store, or go on with one."""
    computed = compute_sums_to(path, scene, options, store_options, KIND, play)
    if store_options.part is None and effort_of(computed.scene).most < effort_of(scene).most:
        # It was begun with fewer samples, which all rows have by now
        more, first = store_options.replace(overwrite=False), computed
        computed = compute_sums_to(path, scene, options, more, KIND, play)
        add(computed.timings, first.timings)
    return computed


def light_facts(scene: Scene) -> dict[str, Any]:
    """Return what the light of a scene's samples depends on, by key."""
    table = scene.to_table()
    found = {"formula": table["formula"], "image.size": scene.image.size}
    found["image.gamut"] = scene.image.primaries
    parts = {name: getattr(scene, name).model_dump(mode="json") for name in TABLES}
    for name, part in {**parts, "color": table["color"]}.items():
        found |= {f"{name}.{key}": value for key, value in part.items()}
    return {key: value for key, value in found.items() if key not in CHANGED}


def all_facts(scene: Scene) -> dict[str, Any]:
    """Return what sums depend on, by key: how many samples pixels need, too.

    A store whose pixels have as many as they need does not go on with more.
    """
    effort = effort_of(scene)
    return light_facts(scene) | ({"light.samples": tuple(effort)} if effort.noise else {})


def relit(light: LightSums, scene: Scene) -> NDArray[Any]:
    """Return sums of three numbers, as if the sources had the light of another scene.

    Another light is an `OptionError`, and so is another picture.
    """
    theirs, ours = light_facts(light.scene), light_facts(scene)
    free = [f"light.{key}" for key in SOURCES]
    if light.scene.light.relight:
        for key in free:
            del theirs[key], ours[key]
        how = f"recolor changes how light is developed, and {', '.join(SOURCES)}"
    else:
        how = "recolor changes how a solid's light is developed alone"
        if any(theirs[key] != ours[key] for key in free):
            how += ", unless the store was computed with relight=True"
    check_same(theirs, ours, how, "compute the new scene anew")
    change = sources_of(scene) - sources_of(light.scene)
    sums: NDArray[Any] = light.sums[..., :3]
    for k in np.flatnonzero(change.any(axis=1)):
        sums = sums + change[k] * light.sums[..., 3 + 3 * k : 6 + 3 * k]
    return sums.clip(0)
