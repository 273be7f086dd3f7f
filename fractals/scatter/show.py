"""From hits to a picture, as in flam3: log density, its estimate, a filter, and tones."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Stages, run_pieces
from fractals.backends.devices import choose
from fractals.color.palette import linear_of, parse_color, srgb_from_linear
from fractals.errors import DeviceMemoryError
from fractals.io import png
from fractals.io.image import Image, png_beginning
from fractals.kernels.elementary import exp, log
from fractals.rendering.develop import Developer, check_bands
from fractals.rendering.options import RenderOptions
from fractals.rendering.stores.kept import Kept, kept_beside
from fractals.rendering.stores.sums import Going, Numbers, parts_of
from fractals.scatter import estimate as kernels
from fractals.scatter.buddhabrot import SUMS
from fractals.scatter.plan import (
    Exposure,
    Hits,
    ScatterPlan,
    Totals,
    filter_taps,
)
from fractals.scatter.play import Player, open_player, room_of
from fractals.scatter.store import KIND as OF_STORES
from fractals.scatter.store import HitAdder
from fractals.scene.model import Scene
from fractals.scene.scatter import Display
from fractals.threads import Progress, threads_for, within

BLOCK = 32  # rows and columns for which the estimate knows one longest reach
EXACT = 100  # hits up to which each number of hits has a spread of its own
LARGEST = 8.0  # sRGB value of light that is developed: about 140 times as bright as white
# The points of an orbit come in bunches, so as many hits tell less. Of powers from 0.5 to 1, this
# had the least error beside 64 times the orbits, and kept thin lines (benchmarks/LOG.md).
BUNCHED = 0.625
FINER = 1.05  # the ratio of two numbers of hits with another spread, beyond that
SHOWN_SIDE = 32  # rows that a thread shows at once
LAUNCHED_SIDE = 256  # rows of a launch of a GPU


class Show:
    """Makes light and pixels of the hits of a scatter image."""

    def __init__(
        self, plan: ScatterPlan, backend: Backend, progress: Progress | None = None
    ) -> None:
        """`progress`: called after each band of rows; what it raises ends the work."""
        self._plan, self._backend, self._progress = plan, backend, progress

    def pixels(self, hits: Hits, totals: Totals | None = None) -> NDArray[Any]:
        """Return the pixels of hits; `totals`: of the whole picture, where these are a band's."""
        plan, backend = self._plan, self._backend
        light = self._light(hits, plan.exposure(hits, totals))
        scene = plan.scene
        step, taps = plan.step, filter_taps(scene.display, plan.step)
        width, rows = scene.image.size[0], plan.drawn
        developer = Developer(backend, scene) if scene.is_developed else None
        deep = scene.image.bits == 16
        white, most = (1, LARGEST) if developer else (65535 if deep else 255, 1)
        tone = tone_of(plan, backend.real, white, most)
        first = plan.margin - (len(taps) - step) // 2
        to_device = backend.to_device
        tone = tone._replace(numbers=to_device(tone.numbers))
        taps = to_device(taps.astype(backend.real))
        run = backend.compile(kernels.make_pixel_body)
        shape = len(rows), width, 3
        rgb = backend.empty(shape, np.float32)
        down = rows.start - plan.counted.start // step  # from rows of the light to the picture's
        self._fill(run, rgb, light, taps, step, first, down, tone)
        found = np.empty(shape, np.float32)
        backend.to_host(rgb, found)
        if developer:
            return developer.of_values(found, rows.start)
        found += np.float32(0.5)
        return np.floor(found, found).astype(scene.image.dtype)

    def _light(self, hits: Hits, exposure: Exposure) -> Any:
        """Return the light of all buckets: the logarithm of the hits, and its estimate.

        It lies on the device.
        """
        plan, backend = self._plan, self._backend
        display, real = plan.scene.display, backend.real
        k1, k2, gains, weight = exposure
        light = backend.empty((*plan.shape, 4), real)
        sums = backend.to_device(hits.sums)
        constants = real(k1), real(k2), backend.to_device(gains.astype(real))
        self._fill(backend.compile(kernels.make_density_body), light, sums, *constants)
        radius = max(display.estimator_radius, display.estimator_minimum)
        if not radius:
            return light
        spread = spreads(display, plan.step, plan.orbits)
        numbers, weights, reaches = (
            backend.to_device(part)
            for part in (spread.numbers, spread.weights.astype(real), spread.reaches)
        )
        kinds = backend.empty(plan.shape, np.int32)
        self._fill(backend.compile(kernels.make_kind_body), kinds, sums, numbers, weight, plan.step)
        far = kinds  # the CPU needs no blocks: it gives light where the others gather it
        if backend.kind != "cpu":
            far = backend.empty(tuple(-(-side // BLOCK) for side in plan.shape), np.int32)
            near = max(1, math.ceil(int(spread.reaches[0]) / BLOCK))
            backend.compile(kernels.make_reach_body)(far, kinds, reaches, near)
        out = backend.empty((*plan.shape, 4), real)
        run = backend.compile(kernels.make_estimate_body)
        self._fill(run, out, light, kinds, weights, reaches, far)
        return out

    def _fill(self, run: Callable[..., None], out: Any, *arguments: Any) -> None:
        """Have an array be filled in bands of rows: by all threads, or by short launches."""
        side = SHOWN_SIDE if self._backend.kind == "cpu" else LAUNCHED_SIDE
        height = out.shape[0]

        def work(top: int) -> None:
            run(out, *arguments, kernels.Rows(top, min(height, top + side)))

        run_pieces(self._backend, range(0, height, side), work, self._progress)


def tone_of(plan: ScatterPlan, real: Any, white: int, most: float) -> kernels.Tone:
    """Return how light becomes pixels."""
    scene, display = plan.scene, plan.scene.display
    behind = srgb_from_linear(linear_of(display.background, scene.image.primaries))
    if scene.image.primaries == "srgb":
        behind = np.array(parse_color(display.background))
    gamma = 1 / display.usual_gamma(plan.method)
    threshold = max(display.gamma_threshold, 1e-30)
    numbers = [gamma, threshold, threshold ** (gamma - 1), display.vibrancy]
    numbers += [display.highlight_power, *behind.tolist()]
    return kernels.Tone(np.array(numbers, np.dtype(real)), real(white), real(most))


# The spread of the density estimate, by the number of hits.


class Spreads(NamedTuple):
    """How far the light of buckets is spread, by their hits."""

    numbers: NDArray[np.int64]  # of hits at which another spread begins
    weights: NDArray[np.float64]  # of each spread, by the square of the distance
    reaches: NDArray[np.int32]  # of each spread, in buckets; the first is the longest


def spreads(display: Display, step: int, orbits: bool = False) -> Spreads:
    """Return the spreads of `fractals.scatter.estimate`.

    The radius is (estimator_radius * step + 1) / n ** estimator_curve, where n is how many hits
    there are in a bucket, or of several buckets a pixel around it. Of orbits n is smaller, the
    hits to the power of `BUNCHED`.
    """
    curve = display.estimator_curve * (BUNCHED if orbits else 1)
    least = display.estimator_minimum * step + 1
    most = max(display.estimator_radius * step + 1, least)
    numbers = [*range(1, EXACT + 1)]
    while most / numbers[-1] ** curve > least and numbers[-1] < 2**40:
        numbers.append(math.ceil(numbers[-1] * FINER))
    falls_by = [float(exp(curve * log(float(n)))) for n in numbers]
    radii = [max(least, most / by) for by in falls_by]
    ends = next((k for k, radius in enumerate(radii) if radius <= least), len(radii) - 1)
    radii = radii[: ends + 1]
    reach = math.ceil(radii[0]) - 1
    weights = np.zeros((len(radii), 2 * reach**2 + 1))
    reaches = np.zeros(len(radii), np.int32)
    squares = np.add.outer(np.arange(-reach, reach + 1) ** 2, np.arange(-reach, reach + 1) ** 2)
    for k, radius in enumerate(radii):
        distance = np.sqrt(np.arange(2 * reach**2 + 1)) / radius
        # At the radius 1 a flame loses a twentieth of its light to neighbors that get none, as in
        # flam3. Where an orbit's density rises past that, the loss would be a contour.
        within = distance < 1 if orbits else distance <= 1
        falls = np.where(within, exp(-2 * (1.5 * distance) ** 2), 0)
        weights[k] = falls / falls[squares].sum()
        reaches[k] = math.ceil(radius) - 1
    return Spreads(np.array(numbers[: ends + 1]), weights, reaches)


# --- Posters: a scatter image whose sums do not fit into memory is drawn in bands
#
# All points of the same game are thrown for each band, which counts the hits in its rows and in
# those around, on which its pixels depend. So bands have no seams: each pixel is that of the whole
# picture.
#
# The bands of a file are kept in a folder beside it until the file is written, so that the same
# picture goes on after an interruption.

LOOPS = {"cpu": "pools", "python": "python"}


class Band(NamedTuple):
    """Rows of a picture that are drawn."""

    rows: range
    pixels: NDArray[Any]
    hits: Hits  # of the picture, as far as bands have shown


PlayBand = Callable[[Player, "Kept | None", "Progress | None"], Hits]


class Games:
    """Several games, one after the other, whose progress is shown as that of one."""

    def __init__(self, progress: Progress | None, games: int) -> None:
        self._progress, self.games, self._begun = progress, games, 0

    def begin(self) -> Progress | None:
        """Return the progress function of the next game."""
        self._begun += 1
        return within(self._progress, self._begun - 1, 1, self.games)

    def skip(self) -> None:
        """Count a game that was played before an interruption."""
        self._begun += 1


def draw_image(
    player: Player, options: RenderOptions, stages: Stages, play: PlayBand | None = None
) -> Image:
    """Return the picture that a player draws; `stages`: of the call; `play`: as `draw_bands`."""
    plan = player.plan
    width, height = plan.scene.image.size
    deep = plan.scene.image.bits == 16
    pixels = np.empty((height, width, 3), np.uint16 if deep else np.uint8)
    for band in draw_bands(player, options, stages, None, play):
        pixels[band.rows.start : band.rows.stop] = band.pixels
    return Image(pixels, **facts_of(plan, band.hits, stages))


def facts_of(plan: ScatterPlan, hits: Hits, stages: Stages) -> dict[str, Any]:
    """Return the facts of a picture's making, as of `fractals.io.facts.PictureFacts`."""
    return {
        "scene": plan.scene,
        "timings": stages.seconds,
        "device": plan.device,
        "precision": plan.precision,
        "method": plan.method,
        "loop": LOOPS.get(plan.device, "kernel"),
        "summary": hits,
    }


def draw_bands(
    player: Player,
    options: RenderOptions,
    stages: Stages,
    kept: Kept | None = None,
    play: PlayBand | None = None,
) -> Iterator[Band]:
    """Yield the bands of a picture from top to bottom; most pictures are one band.

    A band that does not fit into the memory of a GPU is drawn in halves. `kept`: what is kept of
    the bands, which goes on. `play` plays a band in another way, such as by other machines.
    """
    plan = player.plan
    height = plan.scene.image.size[1]
    if plan.bands > 1:
        check_bands(plan.scene)
        options.on_message(cost_of(plan))
    games, in_view = Games(options.on_progress, plan.games), 0
    totals = _totals(player, games, kept) if plan.orbits and plan.bands > 1 else None
    waiting = [plan.rows_of(k) for k in reversed(range(plan.bands))]
    while waiting:
        rows = waiting.pop()
        own = replace(plan, rows=rows)
        name = f"rows-{rows.start}-{rows.stop}"
        if (found := kept.load(name) if kept else None) and "pixels" in found and "hits" in found:
            games.skip()
            in_view = totals.hits if totals else in_view + int(found["hits"])
            yield Band(rows, found["pixels"], own.hits(_none(own), own.chunks, in_view))
            continue
        try:
            one = Player(own, player.backend, player.data(), player.moments)
            if play:
                hits = play(one, kept, games.begin())
            else:
                hits = one.play(own.no_hits(), own.chunks, games.begin())
            stages.lap("iterate")
            pixels = Show(own, player.backend).pixels(hits, totals)
        except DeviceMemoryError:
            if plan.scene.develop.bloom or not (halves := _halves(rows, plan)):
                raise
            waiting += halves
            if totals is None and plan.orbits:
                totals = _totals(player, games, kept)
                games.games += 2
            games.games += 2
            options.on_message(
                f"the GPU is short of memory: {len(rows)} rows are drawn in halves, and all points "
                "are thrown for each, which changes no pixel"
            )
            continue
        stages.lap("color")
        if len(rows) < height:
            seen = _own_hits(own, hits)
            if kept:
                kept.save(name, pixels=pixels, hits=np.int64(seen))
            in_view = totals.hits if totals else in_view + seen
            hits = replace(hits, hits=in_view, sums=_none(own))
        yield Band(rows, pixels, hits)


def _totals(player: Player, games: Games, kept: Kept | None) -> Totals:
    found = kept.load("totals") if kept else None
    if found and set(found) == set(Totals._fields):
        games.skip()
        games.skip()
        return Totals(found["inner"], int(found["every"]), int(found["hits"]))
    totals = player.totals(games.begin)
    if kept:
        kept.save("totals", **totals._asdict())
    return totals


def _none(plan: ScatterPlan) -> NDArray[np.int64]:
    return np.zeros((0, plan.columns, 4), np.int64)


def cost_of(plan: ScatterPlan) -> str:
    """Return the line that says what bands cost."""
    whole = replace(plan, band=0)
    return (
        f"{whole.memory / 2**30:.3g} GiB do not fit into memory: the picture is drawn in "
        f"{plan.bands} bands, and all points are thrown {plan.games} times, which takes about "
        f"{plan.seconds:.2g} s in place of {whole.seconds:.2g} s"
    )


def write_bands(
    file: BinaryIO,
    player: Player,
    options: RenderOptions,
    stages: Stages,
    path: Path | None = None,
    play: PlayBand | None = None,
) -> dict[str, Any]:
    """Write a picture to an open file as a PNG, and return the facts of its making.

    `path`: of the file, if bands can be kept beside it. `play`: as of `draw_bands`.
    """
    if path is None or player.plan.bands == 1:
        return _write_bands(file, player, options, stages, None, play)
    plan = player.plan
    facts = {"scene": plan.scene.to_toml(), "precision": plan.precision, "margin": plan.margin}
    if plan.orbits:
        facts["sums"] = SUMS
    with kept_beside(path) as kept:
        player.plan = replace(plan, band=kept.begin(facts, plan.band))
        return _write_bands(file, player, options, stages, kept, play)


def _write_bands(
    file: BinaryIO,
    player: Player,
    options: RenderOptions,
    stages: Stages,
    kept: Kept | None,
    play: PlayBand | None,
) -> dict[str, Any]:
    plan = player.plan
    picture = plan.scene.image
    writer = png.PngWriter(file, png_beginning(plan.scene, picture.size, picture.bits))
    tall, number = png.strip_rows(picture.size, picture.bits), 0
    threads = threads_for(options.threads)
    for band in draw_bands(player, options, stages, kept, play):
        number = png.put_rows(writer, number, band.pixels, tall, picture.compression, threads)
        stages.lap("encode")
    writer.end()
    return facts_of(plan, band.hits, stages)


def _halves(rows: range, plan: ScatterPlan) -> list[range]:
    """Return the halves of a band, the lower one first, or none where it is a strip of the file."""
    picture = plan.scene.image
    strip = png.strip_rows(picture.size, picture.bits)
    half = len(rows) // strip // 2 * strip
    return [rows[half:], rows[:half]] if half else []


def _own_hits(plan: ScatterPlan, hits: Hits) -> int:
    """Return how many hits are in the rows of a band that no other band has.

    Where transforms have several opacities, it is about as many: their hits weigh differently.
    """
    rows, above = plan.drawn, plan.counted.start
    top = rows.start * plan.step + plan.margin if rows.start else 0
    last = rows.stop == plan.scene.image.size[1]
    end = plan.all_rows if last else rows.stop * plan.step + plan.margin
    own, every = int(hits.count[top - above : end - above].sum()), int(hits.count.sum())
    return round(hits.hits * own / max(1, every))


# --- Bands by a cluster: the sums of a band are added up as those of a store


class BandAdder(HitAdder):
    """Adds up the hits of a band."""

    def __init__(self, player: Player, room: int) -> None:
        """`room`: bytes of the device's memory."""
        super().__init__(player)
        self.room = room

    def numbers(self, total: Hits) -> dict[str, int]:
        """Return the numbers that workers need."""
        plan = self.plan
        assert plan.rows is not None
        own = {"band": plan.band, "top": plan.rows.start, "bottom": plan.rows.stop}
        return super().numbers(total) | own


def _open(scene: Scene, options: RenderOptions) -> BandAdder:
    room = room_of(choose(options.device).device)
    return BandAdder(open_player(scene, options, "bands"), room)


def _reopen(adder: BandAdder, numbers: Numbers) -> BandAdder:
    rows = range(numbers["top"], numbers["bottom"])
    plan = replace(adder.plan, reserve=numbers["margin"], band=numbers["band"], rows=rows)
    plan.check_memory(adder.room)
    return BandAdder(adder.player.planned(plan), adder.room)


KIND = OF_STORES._replace(
    module=__name__,
    keys=("margin", "hits", "band", "top", "bottom"),
    open=_open,
    reopen=_reopen,
)


@dataclass
class GoingBand(Going):
    """A band of a picture that is being computed: its sums are kept beside the picture."""

    kept: Kept | None = None

    @property
    def name(self) -> str:
        """Return the name under which sums are kept."""
        rows = self.adder.plan.drawn
        return f"sums-{rows.start}-{rows.stop}"

    def load(self) -> None:
        """Go on with the sums that are kept, if there are some."""
        assert self.kept
        found, none = self.kept.load(self.name), self.total
        if not found or set(found) != {"sums", "chunks", "hits"}:
            return
        if found["sums"].shape == none.sums.shape and found["sums"].dtype == none.sums.dtype:
            chunks, hits = int(found["chunks"]), int(found["hits"])
            self.total = self.adder.plan.hits(found["sums"], chunks, hits)

    def write(self) -> None:
        """Keep what is added up so far."""
        assert self.kept
        facts = {"chunks": np.int64(self.total.chunks), "hits": np.int64(self.total.hits)}
        self.kept.save(self.name, sums=self.total.sums, **facts)


def bands_by(cluster: Any, options: RenderOptions) -> PlayBand:
    """Return what has a cluster play a band of a picture."""
    from fractals.rendering.cluster.sums import played_by

    play_chunks = played_by(cluster)

    def play(player: Player, kept: Kept | None, progress: Progress | None) -> Hits:
        assert kept
        adder = BandAdder(player, 0)
        parts = parts_of(kept.folder, adder)
        going = GoingBand(kept.folder, KIND, adder, adder.none(), parts, kept=kept)
        going.load()
        play_chunks(going, options.replace(progress=progress))
        parts.clear()
        kept.remove(going.name)
        hits: Hits = going.total
        return hits

    return play
