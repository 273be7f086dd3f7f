"""Scenes that mutate a scene: other palettes, colorings and layers, and places near by."""

import random
from collections.abc import Callable, Collection, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np

from fractals import catalog
from fractals.color import palette
from fractals.color.palette import Floats
from fractals.errors import FractalsError
from fractals.io.png import Pixels
from fractals.rendering.families import family_of, moves_of
from fractals.rendering.fit import fit_colors
from fractals.rendering.plan import make_plan
from fractals.rendering.render import render
from fractals.scene.credits import unsigned
from fractals.scene.model import Scene
from fractals.search.composition import composition_of, means_of
from fractals.tools import interesting, sheet

COUNT = 12  # scenes of a sheet
COMPOSED = 0.5  # least score of a composition; others are taken where these are too few
MAX_SEEN = 2 * COUNT  # pictures that are not flat, among which is chosen
MAX_TRIES = 4 * COUNT  # mutations from which these are taken: many a coloring shows nothing
# Of luminance, of 255: below this standard deviation, or this range of the middle 90 %, a picture
# shows nothing.
FLAT = 8.0
COLUMNS = 4
PLACES = 4  # of these, other places in the view
# Mean distance in OKLab of the cells of two pictures, below which they look the same.
ALIKE = 0.025
SUNS = ((-0.8, -0.5, 0.35), (0.9, -0.2, 0.3), (0.2, 0.9, 0.5), (0.1, -0.3, 1.0), (-0.3, 0.8, 0.15))
# Colorings that change a picture most, and that need no iterate by iterate sums in deep views.
PLAIN = ("smooth", "slopes", "distance", "field_lines", "final_angle", "decomposition", "rank")
RICH = ("stripe_average", "triangle_average", "orbit_trap", "curvature_average", "atom_domains")
STRENGTHS, BENT = (0.05, 0.15, 0.3), 0.4  # how far, and what share of a formula's numbers, change
LAYERS: tuple[dict[str, Any], ...] = (
    {"coloring": "slopes", "blend": "soft_light", "opacity": 0.9},
    {"coloring": "slopes", "blend": "overlay", "opacity": 0.6},
    {"coloring": "distance", "palette": "ink", "blend": "multiply", "opacity": 0.7},
    {"coloring": "field_lines", "palette": "ink", "blend": "soft_light", "opacity": 0.5},
)


class Label(NamedTuple):
    """What a scene is called: a palette or numbers, and in which way it differs; or `other`."""

    label: str
    way: Literal["", "near_by", "near_by_in", "colored_by", "under_a_layer"] = ""
    other: str = ""  # the coloring, or that of the layer above

    def __str__(self) -> str:
        """Return the caption in a sheet: "Orchid under slopes"."""
        return CAPTIONS[self.way].format(self.label, self.other)


CAPTIONS = {
    "": "{0}",
    "near_by": "Near by: {0}",
    "near_by_in": "Near by, in {0}",
    "colored_by": "{0}, by {1}",
    "under_a_layer": "{0} under {1}",
}


def mutations(
    scene: Scene, seed: int = 0, device: str = "cpu", locked: Collection[str] = ()
) -> Iterator[tuple[Label, Scene]]:
    """Yield up to MAX_TRIES scenes that are like a scene, each with a label for people.

    `ComposedChoice` takes COUNT of their pictures. The same seed gives the same
    scenes. Places near by are searched on the device. `locked`: numbers of the formula that stay.
    """
    for label, found in _mutations(scene, seed, device, locked):
        yield label, unsigned(scene, found)


def _mutations(
    scene: Scene, seed: int, device: str, locked: Collection[str]
) -> Iterator[tuple[Label, Scene]]:
    """Yield the same, with the author of the scene."""
    chance = random.Random(seed)
    if not family_of(scene).uses_colorings:
        yield from _of_numbers(scene, chance, device, locked)
        return
    deep = make_plan(scene).deep
    names = sorted(set(catalog.names("palette")) - {scene.color.palette})
    chance.shuffle(names)
    colorings = [*PLAIN] if deep else [*PLAIN, *RICH]
    chance.shuffle(colorings)
    places = _places(scene, device)
    seen: set[str] = set()
    for k in range(MAX_TRIES):
        name, coloring, kind = names[k % len(names)], colorings[k % len(colorings)], k % 4
        if kind == 3 and not places:
            kind = chance.randrange(3)
        try:
            if kind == 0:
                found = _repainted(scene, name, chance)
            elif kind == 1:
                found = _recolored(scene, name, coloring)
            elif kind == 2:
                found = _layered(scene, name, chance)
            else:
                found = _moved(places.pop(0), name, chance)
            make_plan(found[1])
        except FractalsError:  # the coloring has no meaning for the formula, or the depth
            continue
        text = found[1].to_json()
        if text not in seen:
            seen.add(text)
            yield found


def _of_numbers(
    scene: Scene, chance: random.Random, device: str, locked: Collection[str]
) -> Iterator[tuple[Label, Scene]]:
    """Yield scenes in other palettes, scenes whose formula has other numbers, and other cameras."""
    names = sorted(set(catalog.names("palette")) - {scene.color.palette})
    chance.shuffle(names)
    formula = scene.make_any_formula()
    table = scene.to_table()["formula"]
    if not isinstance(table, dict):
        table = {"name": table, **formula.parameters}
    # Parts of a plane are found by counts of iterations, which these images lack.
    places = [] if moves_of(scene).in_plane else _places(scene, device)
    for k in range(MAX_TRIES):
        name = names[k % len(names)]
        if places and k % 3 == 0:
            yield _moved(places.pop(0), name, chance)
            continue
        changes: dict[str, Any] = {"palette": name} if k % 3 != 1 else {}
        label = Label(_words(name).capitalize())
        if k % 3:
            bent = _bent(table, chance.choice(STRENGTHS), chance)
            bent |= {key: table[key] for key in locked if key in table}
            changed = _changed(table, bent)
            if not changed:  # all its numbers are whole
                bent, changed = table, ["the sun"] if scene.family == "solid" else []
                changes |= _lit(chance) if changed else {"palette": name}
            changes["formula"] = bent
            parts = [_words(name)] * ("palette" in changes) + changed[:2]
            label = Label(", ".join(parts), "near_by")
        try:
            yield label, scene.replace(**changes)
        except FractalsError:  # a number beyond what the formula takes
            continue


def _changed(before: Any, after: Any, name: str = "") -> list[str]:
    """Return the names of the numbers that differ, in words, each once."""
    if isinstance(before, dict):
        parts = (_changed(before[key], after[key], str(key)) for key in before)
    elif isinstance(before, list | tuple):
        parts = (_changed(one, other, name) for one, other in zip(before, after, strict=True))
    else:
        return [] if before == after else [_words(name)]
    return list(dict.fromkeys(each for part in parts for each in part))


def _lit(chance: random.Random) -> dict[str, Any]:
    """Return keys of another light: the sun elsewhere, and weaker or stronger."""
    return {"sun": chance.choice(SUNS), "sun_power": round(3.0 * chance.choice((0.6, 1.0, 1.5)), 2)}


def _bent(part: Any, strength: float, chance: random.Random) -> Any:
    """Return a table in which some of the numbers are others; whole ones stay as they are.

    Shares, from 0 to 1, stay between these.
    """
    if isinstance(part, dict):
        return {key: _bent(value, strength, chance) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_bent(value, strength, chance) for value in part]
    if not isinstance(part, float) or chance.random() > BENT:
        return part
    made = part + strength * max(abs(part), 0.2) * chance.gauss(0, 1)
    return round(min(1.0, max(0.0, made)) if 0 <= part <= 1 else made, 6)


def is_flat(pixels: Pixels) -> bool:
    """Tell whether a picture has nearly one luminance, so that nothing is seen."""
    luminance = pixels @ np.array([0.2126, 0.7152, 0.0722])
    low, high = np.quantile(luminance, (0.05, 0.95))
    return bool(luminance.std() < FLAT or high - low < FLAT)


class ComposedChoice:
    """Chooses COUNT of some pictures as they are drawn.

    A picture that is flat, or looks like one that is taken, is left out. One that is symmetric,
    centered or pale is held back, and taken in the end where there are not enough others.
    """

    def __init__(self) -> None:
        self._held: list[tuple[float, Any, Floats]] = []
        self._known: list[Floats] = []  # the colors of cells of what is taken, or given
        self._taken = self._seen = 0

    def know(self, pixels: Pixels) -> None:
        """Leave out what looks like a picture, such as that of the scene itself."""
        self._known.append(cells_of(pixels))

    @property
    def ends(self) -> bool:
        """Tell whether no more pictures are needed."""
        return self._taken == COUNT or self._seen == MAX_SEEN

    def takes(self, picture: Any, pixels: Pixels) -> bool:
        """Tell whether a picture is taken at once; `picture` is what `rest` returns of others."""
        colors = cells_of(pixels)
        if is_flat(pixels) or self._knows(colors):
            return False
        self._seen += 1
        score = composition_of(pixels).score
        if score < COMPOSED:
            self._held.append((score, picture, colors))
            return False
        self._known.append(colors)
        self._taken += 1
        return True

    def rest(self) -> list[Any]:
        """Return pictures that were held back, the best first, as many as are missing."""
        self._held.sort(key=lambda each: -each[0])
        found = []
        for _, picture, colors in self._held:
            if self._taken < COUNT and not self._knows(colors):
                self._known.append(colors)
                self._taken += 1
                found.append(picture)
        return found

    def _knows(self, colors: Floats) -> bool:
        """Tell whether a picture that looks the same is taken."""
        return any(
            colors.shape == other.shape
            and np.sqrt(((colors - other) ** 2).sum(axis=-1)).mean() < ALIKE
            for other in self._known
        )


def cells_of(pixels: Pixels) -> Floats:
    """Return the mean colors of the cells of a picture in OKLab, shape (rows, columns, 3)."""
    light = palette.linear_from_srgb(pixels / (255 if pixels.dtype == np.uint8 else 65535))
    means = np.stack([means_of(light[..., k]) for k in range(3)], axis=-1)
    return palette.oklab_from_linear(means)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _places(scene: Scene, device: str) -> list[Scene]:
    try:
        found = interesting.find_interesting(scene, count=PLACES, device=device, centers=False)
    except FractalsError:
        return []
    return [each.scene.replace(title="") for each in found]


def _density(scene: Scene, chance: random.Random) -> float:
    wanted = scene.color.density * chance.choice((0.5, 1.0, 1.0, 1.5, 2.5))
    return min(1e6, max(-1e6, float(f"{wanted:.3g}")))


def _repainted(scene: Scene, name: str, chance: random.Random) -> tuple[Label, Scene]:
    look = scene.replace(
        palette=name, density=_density(scene, chance), offset=round(chance.random(), 3)
    )
    label = Label(_words(name).capitalize())
    return label, look if palette.load(name).cyclic else fit_colors(look)


def _recolored(scene: Scene, name: str, coloring: str) -> tuple[Label, Scene]:
    look = scene.replace(coloring=coloring, palette=name, transfer="auto", layers=[])
    label = Label(_words(name).capitalize(), "colored_by", _words(coloring))
    return label, fit_colors(look)


def _layered(scene: Scene, name: str, chance: random.Random) -> tuple[Label, Scene]:
    layer = chance.choice(LAYERS)
    below = scene.replace(layers=[], palette=name, offset=round(chance.random(), 3))
    label = Label(_words(name).capitalize(), "under_a_layer", _words(layer["coloring"]))
    return label, below.replace(layers=[layer])


def _moved(place: Scene, name: str, chance: random.Random) -> tuple[Label, Scene]:
    label = Label(_words(name), "near_by_in")
    return label, place.replace(palette=name, offset=round(chance.random(), 3))


def draw_sheet(
    scene: Scene,
    seed: int = 0,
    device: str = "auto",
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[list[Scene], bytes]:
    """Return COUNT scenes like a scene, and a PNG of small pictures of them, numbered.

    The same `seed` gives the same scenes; ``progress(done, COUNT)`` is called after each picture.
    """

    def drawn(each: Scene) -> Pixels:
        small = sheet.reduced(each)
        return render(small, device=device, threads=threads, on_message=lambda line: None).pixels

    taken: list[tuple[Label, Scene, Pixels]] = []
    choice = ComposedChoice()
    choice.know(drawn(scene))
    for label, found in mutations(scene, seed, device):
        pixels = drawn(found)
        picture = label, found, pixels
        if choice.takes(picture, pixels):
            taken.append(picture)
            if progress:
                progress(len(taken), COUNT)
        if choice.ends:
            break
    taken += choice.rest()
    if progress and taken:
        progress(COUNT, COUNT)
    scenes = [found for _, found, _ in taken]
    cells = [sheet.Cell(f"{k}  {label}", pixels) for k, (label, _, pixels) in enumerate(taken, 1)]
    if not cells:
        raise FractalsError("no mutation of the scene can be drawn: choose another view")
    return scenes, sheet.png(sheet.assemble(cells, COLUMNS))
