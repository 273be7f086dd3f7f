"""Paths of light are traced, and their sums become pixels."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, moved, run_pieces
from fractals.backends.devices import choose, choose_one, open_backend, open_chosen
from fractals.backends.machine_code import Uncompilable
from fractals.backends.probe import memory_size
from fractals.errors import DifferenceError, OptionError
from fractals.rendering.develop import Developer
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Keeps
from fractals.scene.model import Scene
from fractals.space import light as lights
from fractals.space import march, paths
from fractals.space.cones import Level, Run, levels_of, started
from fractals.space.enough import Filling, Judge, Trace
from fractals.space.march import Space
from fractals.space.plan import (
    PROBE,
    QUANTILES,
    Seen,
    SolidPlan,
    make_solid_plan,
    quality_of,
)
from fractals.space.solid import Solid
from fractals.threads import Progress, halted, threads_for

CHECKED = 24, 16  # pixels of the picture that is compared with plain Python
FREE = 0.9  # of the memory that is free, that a picture may take
LOOPS = {"cpu": "packs", "python": "python"}
SIDE = 2  # rays of a pixel for the surface of an EXR, a side
ROWS = 8  # of a piece whose pixels take as many samples as they need
GUIDED_MOMENTS = 4  # of a frame whose scene changes, at least, where there are as many
GUIDED = 2**14  # pixels of a launch of these
# Where a path's time goes, in parts of the time of one path of edelweiss (0.8 us on a Zen 5): to a
# surface that it meets, to an evaluation of the field, and to that for each of the solid's options.
# About half of the paths of denoised pixels bounce, and half of these go on after that.
PER_SURFACE, PER_EVALUATION, PER_OPTION = 0.2, 0.007, 0.00043
# The noise of pixels follows the square of this time, in parts of a usual one, within a range: with
# n times the noise a picture has about 1 / sqrt(n) of its paths.
USUAL, CHEAPEST, DEAREST = 0.8, 0.5, 1.25
COUNTED = tuple(2**k for k in range(1, 9))  # evaluations at which a probe's rays are looked at
USUAL_STEPS = 20  # of an orbit; where there are more, a launch has fewer paths
# Of a launch.
PATHS = {"python": 64, "cpu": 2**15, "simulator": 2**12, "opencl": 2**18, "cuda": 2**22}
# Of a lane, at least, where a launch has as many as it may: pixels differ in what their paths take,
# and lanes of a warp wait for the last one. A line of lanes is as long as a GPU's block of threads.
PATHS_OF_LANE, LINE = 16, 8

NOTHING = Seen(1.0, 1.0, np.linspace(0, 1, len(QUANTILES)))  # before anything was looked at


class SampledRows(NamedTuple):
    """Samples of some rows of a picture."""

    rows: range
    first: int
    samples: int
    bounce: bool = True  # else paths end where they meet the surface


class Instant(NamedTuple):
    """What paths need, at one time."""

    shot: lights.Shot
    space: Space
    levels: Sequence[Level]  # of the cones that go ahead of rays


class Tracing:
    """Traces samples of a picture, and shows their sums."""

    def __init__(
        self,
        plan: SolidPlan,
        backend: Backend,
        seen: Seen | None = None,
        moments: Sequence[Scene] = (),
    ) -> None:
        """Look at the surface, and lay out the light.

        `seen`: what other pictures of a film have seen, too; without it a probe looks. `moments`:
        scenes of a frame while the shutter is open, among which the samples are shared.
        """
        solids = [solid_of(scene) for scene in moments]
        if any(solid.walk != plan.solid.walk for solid in solids):  # an angle may be 0 at a moment
            plan = replace(plan, solid=plan.solid.generally())
            solids = [solid.generally() for solid in solids]
        self.plan, self.backend = plan, backend
        self._space = plan.space(backend.real)
        self._tracers: list[Any] = []
        self.developer = Developer(backend, plan.scene, plan.whole_size, plan.corner)
        self.loop = LOOPS.get(plan.device, "kernel")
        self.seen = seen or Seen.of(self.probe())
        self.shot = plan.shot(self.seen, backend.real)
        self._moments = self._laid_out(moments, solids)
        if not self._moments:
            self._moments = [self._instant(plan, self.shot, self._space)]
        self._moved: list[Instant] = []
        self._last: tuple[Instant, range, lights.Shot] | None = None
        self.effort = plan.effort
        if self.effort.rising:
            dear = min(max((self.price() / USUAL) ** 2, CHEAPEST), DEAREST)
            self.effort = self.effort._replace(rising=dear * self.effort.rising)
        # Samples and pixels of pieces, where pixels take as many as they need
        self._taken: list[tuple[int, int]] = []
        self._columns = plan.columns(len(self.effort.rounds))
        self._judge = Judge(backend, plan.scene)

    @property
    def numbers(self) -> int:
        """Return how many numbers a pixel's sums have: with guides, where these are needed."""
        return 3 + lights.GUIDES * self.plan.scene.develop.denoise

    @property
    def mean(self) -> float:
        """Return the mean samples of a pixel, where each has as many as it needs; else 0."""
        samples, pixels = (sum(part[k] for part in self._taken) for k in (0, 1))
        return samples / max(1, pixels)

    def _laid_out(self, scenes: Sequence[Scene], solids: Sequence[Solid]) -> list[Instant]:
        """Return the moments of scenes: as many as a pixel has samples, spread over the time."""
        both = zip(scenes, solids, strict=True)
        plans = [replace(self.plan, scene=scene, solid=solid) for scene, solid in both]
        # Where a power changes, the program of another solid would be needed
        plans = [plan for plan in plans if plan.solid.walk == self.plan.solid.walk]
        count = min(len(plans), self.plan.effort.most)
        chosen = [plans[(2 * k + 1) * len(plans) // (2 * count)] for k in range(count)]
        real = self.backend.real
        return [
            self._instant(plan, plan.shot(self.seen, real), plan.space(real)) for plan in chosen
        ]

    def _instant(self, plan: SolidPlan, shot: lights.Shot, space: Space) -> Instant:
        return Instant(shot, space, levels_of(plan, shot.camera, space))

    def probe(self, most: int = 0) -> NDArray[Any]:
        """Return what few rays meet, as of `fractals.space.march.make_first_body`.

        `most`: evaluations of the field for a ray, after which it ends; 0: as many as it takes.
        """
        camera, backend = self.plan.probe_camera(self.backend.real), self.backend
        out = np.zeros((PROBE, PROBE, 2), backend.real)
        space = self._space._replace(most=most) if most else self._space
        if self._packed():
            tracer = self._tracer()
            tracer.first(out, camera, space)
            self._tracers.append(tracer)
            return out
        on_device = backend.to_device(out)
        run = backend.compile(march.make_first_body, self.plan.solid.walk)
        run(on_device, backend.to_device(camera), moved(backend, space))
        backend.to_host(on_device, out)
        return out

    def price(self) -> float:
        """Return about how long a path takes, by the field's evaluations for rays of a probe.

        The probe is repeated with ever more evaluations: a ray needs more of them as long as it
        ends elsewhere than with all. So the counts are those of every device.
        """
        whole, taken, last, going = self.probe(), 0, 0, PROBE**2
        for most in COUNTED:
            ends = self.probe(most)[..., 0]
            left = int((ends != whole[..., 0]).sum())
            taken += (going + left) * (most - last) // 2
            last, going = most, left
        share, plan = int((whole[..., 0] >= 0).sum()) / PROBE**2, self.plan
        one = PER_EVALUATION + PER_OPTION * plan.solid.walk.numbers
        bounces = plan.scene.light.bounces
        surfaces = 1 + min(bounces, 1) / 2 + max(bounces - 1, 0) / 4
        return PER_SURFACE * share * surfaces + one * taken / PROBE**2

    def _packed(self) -> bool:
        """Tell whether packs of rays walk: on the CPU, unless a solid of a user can't be packed."""
        if self.loop == "packs":
            try:
                self._tracers.append(self._tracer())
            except Uncompilable as error:
                self.loop = f"plain: {error}"
        return self.loop == "packs"

    def _tracer(self) -> Any:
        from fractals.space.cpu_ray_lists import Tracer

        try:
            return self._tracers.pop()
        except IndexError:
            return Tracer(self.plan.precision, self.plan.solid.walk)

    def add(
        self, sums: NDArray[np.int64], rows: range, first: int, last: int, progress: Progress | None
    ) -> None:
        """Add the samples from `first` to the one before `last` to the sums of some rows.

        `sums`: those of these rows, shape (rows, width, numbers), as of
        `fractals.space.paths.make_body`.
        """
        pieces = self._pieces(rows, first, last)

        def one(piece: SampledRows) -> None:
            own = sums[piece.rows.start - rows.start : piece.rows.stop - rows.start]
            self._trace(own, self._places(piece.rows, self.plan.columns()), piece, {})

        run_pieces(self.backend, pieces, one, progress)

    def fill(self, sums: NDArray[np.int64], rows: range, progress: Progress | None) -> None:
        """Add all samples to the sums of some rows, which are 0: as many as each pixel needs.

        They become as large as if each pixel had the most samples.
        """
        effort = self.effort
        if not effort.noise:
            self.add(sums, rows, 0, effort.most, progress)
            return

        def one(part: range) -> None:
            own = sums[part.start - rows.start : part.stop - rows.start]
            wide = self.wide(own)
            places, trace = self._places(part, self._columns), self._tracer_of(part)
            taken = self._judge.fill(wide, places, effort, trace)
            if wide is not own:
                own[...] = self.cut(wide)
            self._taken.append((taken, wide[..., 0].size))

        run_pieces(self.backend, self._parts(rows), one, progress)

    def filling(self) -> Filling:
        """Return what begins with sums of no sample, for `go_on`; `cut` takes the picture of it."""
        height = self.plan.scene.image.size[1]
        return Filling.of(np.zeros((height, len(self._columns), self.numbers), np.int64))

    def wide(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return sums, which are 0, with columns beyond the edges of a part; `cut` undoes it."""
        if sums.shape[1] == len(self._columns):
            return sums
        return np.zeros((len(sums), len(self._columns), sums.shape[2]), np.int64)

    def cut(self, sums: NDArray[Any]) -> NDArray[Any]:
        """Return the picture's columns of what has those beyond the edges of a part, too."""
        left = self.plan.corner[0] - self._columns.start
        return sums[:, left : left + self.plan.scene.image.size[0]]

    def go_on(
        self,
        filling: Filling,
        rows: range,
        samples: tuple[int, int],
        progress: Progress | None,
        stop: Callable[[], bool] = halted,
        tracers: dict[range, Trace] | None = None,
    ) -> None:
        """Take pixels of some rows that need more from a number of samples to the next.

        stop : callable
            Where it returns True, the rows that are left keep what they have.
        tracers : dict, optional
            Those of parts of the rows, kept for their next samples: the starts of rays stay.
        """

        def one(part: range) -> None:
            if stop():
                return
            own = filling.part(slice(part.start - rows.start, part.stop - rows.start))
            places = self._places(part, self._columns)
            if tracers is None:
                trace = self._tracer_of(part)
            elif (trace := tracers.get(part)) is None:  # type: ignore[assignment]
                trace = tracers[part] = self._tracer_of(part)
            self._judge.go_on(own, places, samples, self.effort, trace)

        run_pieces(self.backend, self._parts(rows), one, progress)

    def count(self, filling: Filling) -> None:
        """Count the samples of rows that are complete, for `mean`."""
        if self.effort.noise:
            counts = filling.counts
            self._taken.append((int(counts.sum(dtype=np.int64)), counts.size))

    def _parts(self, rows: range) -> list[range]:
        """Return some rows in pieces whose pixels take as many samples as they need."""
        width = len(self._columns)
        paths = 0 if self.plan.device == "cpu" else PATHS[self.plan.device]
        tall = max(ROWS, paths // width)
        return [rows[k : k + tall] for k in range(0, len(rows), tall)]

    def _tracer_of(self, rows: range) -> Trace:
        """Return what traces samples of pixels of some rows; see `fractals.space.enough.Trace`."""
        shots: dict[int, lights.Shot] = {}

        def trace(
            sums: NDArray[np.int64],
            places: NDArray[np.int32],
            first: int,
            samples: int,
            bounce: bool,
        ) -> None:
            piece = SampledRows(rows, first, samples, bounce)
            self._trace(sums[None], places[None], piece, shots)

        return trace

    def _places(self, rows: range, columns: range) -> NDArray[np.int32]:
        """Return column and row of pixels in the whole picture, as of `pixels_of`."""
        found = pixels_of(rows, len(columns))
        found += np.array([columns.start, self.plan.corner[1]], np.int32)
        return found

    def _begun(self, moment: Instant, rows: range, run: Run, empty: Any) -> lights.Shot:
        """Return the shot of some rows of the picture; see `started`."""
        down, width = self.plan.corner[1], self._columns.stop
        whole = range(rows.start + down, rows.stop + down)
        return started(moment.levels, whole, width, moment.shot, run, empty)

    def _pieces(self, rows: range, first: int, last: int) -> list[SampledRows]:
        plan, moments = self.plan, len(self._moments)
        return pieces_of(plan.device, plan.scene, plan.steps, rows, first, last, moments)

    def _shared(
        self, moments: Sequence[Instant], piece: SampledRows
    ) -> Iterator[tuple[Instant, int, int]]:
        """Yield moments, and which samples of a piece are theirs: the first, and how many."""
        whole, end = self.effort.most, piece.first + piece.samples
        if len(moments) == 1:
            yield moments[0], piece.first, piece.samples
            return
        for k, moment in enumerate(moments):
            first = max(piece.first, whole * k // len(moments))
            last = min(end, whole * (k + 1) // len(moments))
            if first < last:
                yield moment, first, last - first

    def _trace(
        self,
        sums: NDArray[np.int64],
        places: NDArray[np.int32],
        piece: SampledRows,
        shots: dict[int, lights.Shot],
    ) -> None:
        """Add samples of a piece to the sums of pixels, whose columns and rows are `places`.

        `shots`: of the moments, kept for more samples of the same rows.
        """
        if self.loop == "packs":
            self._in_packs(sums, places, piece, shots)
        else:
            self._by_kernel(sums, places, piece)

    def _in_packs(
        self,
        sums: NDArray[np.int64],
        places: NDArray[np.int32],
        piece: SampledRows,
        shots: dict[int, lights.Shot],
    ) -> None:
        from fractals.space.cpu_ray_lists import PathRange

        tracer = self._tracer()
        flat, own = places.reshape(-1, 2), sums.reshape(1, -1, sums.shape[2])
        for moment, first, samples in self._shared(self._moments, piece):
            if (shot := shots.get(id(moment))) is None:
                empty = partial(np.empty, dtype=self.backend.real)
                shot = self._begun(moment, piece.rows, tracer.starts, empty)
                shots[id(moment)] = shot
            shot = ending(shot, piece)
            tracer.trace(own, PathRange(flat, first, samples), shot, moment.space)
        self._tracers.append(tracer)

    def _by_kernel(
        self, sums: NDArray[np.int64], places: NDArray[np.int32], piece: SampledRows
    ) -> None:
        backend, numbers = self.backend, sums.shape[2]
        if not self._moved:
            self._moved = [moved(backend, instant) for instant in self._moments]
        shared, guided = numbers == 3 + lights.SHARES, numbers == 3 + lights.GUIDES
        if numbers == 3 + lights.SHARES + lights.PASSES:
            shared = 2
        run = backend.compile(paths.make_body, self.plan.solid.walk, shared, guided)
        on_device, where = on_lanes(backend, sums, places)
        for moment, first, samples in self._shared(self._moved, piece):
            shot = ending(self._started(moment, piece.rows), piece)
            for begin, few in in_turn(backend.kind, sums[..., 0].size, first, samples):
                run(on_device, where, begin, few, shot, moment.space)
        backend.to_host(on_device.sums, sums.reshape(1, -1, numbers))

    def _started(self, moment: Instant, rows: range) -> lights.Shot:
        """Return the shot of some rows; pieces with other samples of them follow each other."""
        last = self._last
        if last is None or last[0] is not moment or last[1] != rows:
            backend = self.backend
            run = backend.compile(march.make_starts_body, self.plan.solid.walk)
            empty = partial(backend.empty, dtype=backend.real)
            shot = self._begun(moment, rows, run, empty)
            self._last = last = moment, rows, shot
        return last[2]

    def light(self, sums: NDArray[np.int64], samples: int) -> NDArray[Any]:
        """Return the light of sums of some samples, and then the guides if they are there."""
        real = self.backend.real
        found: NDArray[Any] = sums.astype(real)
        # Each in one go: a row of factors, one for each number, takes NumPy five times as long.
        found[..., :3] *= real(self.developer.exposure / (samples * lights.ONE))
        found[..., 3:] *= real(1 / (samples * lights.ONE))
        return found

    def pixels(self, sums: NDArray[np.int64], samples: int, top: int = 0) -> NDArray[Any]:
        """Return the pixels of sums of some samples, whose first row is `top`."""
        return self.developer.pixels(self.light(sums[..., :3], samples), top)

    @property
    def whole(self) -> bool:
        """Tell whether pixels depend on the light of the whole picture."""
        return self.plan.scene.develop.whole

    def finished(self, light: NDArray[Any]) -> NDArray[Any]:
        """Return the pixels of the light of the whole picture, without noise where that is asked.

        Colors and normals of the surface are those that follow the light, or else those of a ray
        through the middle of each pixel; see `fractals.space.denoise`.
        """
        if not self.plan.scene.develop.denoise:
            return self.developer.pixels(light)
        from fractals.space.denoise import smoothed

        light = np.ascontiguousarray(light, np.float32)
        first, surface = None, light[..., 3:9]
        if light.shape[2] > 3:
            first = light[..., lights.FIRST :] * np.float32(self.developer.exposure)
        else:
            surface = self.guides(1)[..., :6]
        sharp = self.plan.scene.camera.lens == 0 and len(self._moments) == 1
        quality = quality_of(self.plan.scene)
        return self.developer.pixels(smoothed(light[..., :3], surface, first, quality, sharp))

    def guides(self, side: int = SIDE) -> NDArray[np.float32]:
        """Return the surface of all pixels, as of `fractals.space.light.make_guide_body`.

        `side`: rays of a pixel, along each side.
        """
        step = max(1, len(self._moments) // GUIDED_MOMENTS)
        few = self._moments[step // 2 :: step]
        found = self._guides(few[0], side)
        for moment in few[1:]:
            found += self._guides(moment, side)
        return found / np.float32(len(few)) if len(few) > 1 else found

    def _guides(self, moment: Instant, side: int) -> NDArray[np.float32]:
        backend, (width, height) = self.backend, self.plan.scene.image.size
        left, first = self.plan.corner
        run = backend.compile(lights.make_guide_body, self.plan.solid.walk)
        shot, space = (moved(backend, part) for part in (moment.shot, moment.space))
        found = np.empty((height, width, 8), np.float32)
        step = 1 + GUIDED // width

        def work(top: int) -> None:
            rows = found[top : top + step]
            # The rays are those of columns from the whole's first one on
            wide = rows if not left else np.empty((len(rows), left + width, 8), np.float32)
            out = backend.empty(wide.shape, np.float32)
            run(out, np.int64(top + first), np.int32(side), shot, space)
            backend.to_host(out, wide)
            if left:
                rows[...] = wide[:, left:]

        run_pieces(backend, range(0, height, step), work)
        return found

    def check(self, seed: int) -> None:
        """Compare the light of some pixels with that of plain Python.

        `DifferenceError`: they differ.
        """
        plan, sums = self.plan, []
        sample = random.Random(seed).randrange(plan.effort.most)
        small = replace(plan, scene=plan.scene.replace(size=CHECKED))
        python = open_backend(choose("python").device, plan.precision)
        for kind, backend in ((plan.device, self.backend), ("python", python)):
            tracing = Tracing(replace(small, device=kind, threads=1), backend)
            sums.append(np.zeros((CHECKED[1], CHECKED[0], 3), np.int64))
            tracing.add(sums[-1], range(CHECKED[1]), sample, sample + 1, None)
        if not np.array_equal(sums[0], sums[1]):
            raise DifferenceError(f"the light of sample {sample} differs from that of plain Python")


def ending(shot: lights.Shot, piece: SampledRows) -> lights.Shot:
    """Return the shot of a piece, whose paths may end where they meet the surface."""
    return shot if piece.bounce else shot._replace(bounces=0)


def solid_of(scene: Scene) -> Solid:
    """Return the solid of a scene."""
    solid = scene.make_any_formula()
    assert isinstance(solid, Solid)
    return solid


def pixels_of(rows: range, width: int) -> NDArray[np.int32]:
    """Return column and row of the pixels of some rows, shape (rows, width, 2)."""
    found = np.empty((len(rows), width, 2), np.int32)
    found[..., 0], found[..., 1] = np.arange(width), np.array(rows)[:, None]
    return found


def pieces_of(
    device: str, scene: Scene, steps: int, rows: range, first: int, last: int, moments: int = 1
) -> list[SampledRows]:
    """Return samples of rows in pieces for launches, of which each has its own moments.

    `steps`: of a distance estimate.
    """
    width = scene.image.size[0]
    most = max(1, PATHS[device] * USUAL_STEPS // max(USUAL_STEPS, steps)) * moments
    samples = last - first
    if device == "cpu":  # rows in turn: a piece has all samples of its rows
        tall = max(1, most // (width * samples))
        begins = range(0, len(rows), tall)
        return [SampledRows(rows[k : k + tall], first, samples) for k in begins]
    tall = max(1, most // width)
    few = max(1, most // (width * min(tall, len(rows))))
    return [
        SampledRows(rows[k : k + tall], begin, min(few, last - begin))
        for k in range(0, len(rows), tall)
        for begin in range(first, last, few)
    ]


def in_turn(device: str, pixels: int, first: int, samples: int) -> Iterator[tuple[int, int]]:
    """Yield samples of some pixels in parts: the first of each, and how many.

    A part takes some tenths of a second. Parts end where the work of this thread is not needed.
    """
    few = max(1, PATHS[device] // pixels)
    for begin in range(first, first + samples, few):
        if halted():
            return
        yield begin, min(few, first + samples - begin)


def on_lanes(
    backend: Backend, sums: NDArray[np.int64], places: NDArray[np.int32]
) -> tuple[paths.LaneSums, Any]:
    """Return sums and places of pixels on the device, as `fractals.space.paths.make_body` takes.

    A large launch has fewer lanes than pixels: each takes pixels that are far from each other.
    """
    flat = sums.reshape(1, -1, sums.shape[-1])
    lanes = min(flat.shape[1], PATHS[backend.kind] // PATHS_OF_LANE)
    shape = backend.empty((-(-lanes // LINE), LINE), np.uint8)
    where = backend.to_device(places.reshape(1, -1, 2))
    return paths.LaneSums(shape, backend.to_device(flat)), where


def open_tracing(
    scene: Scene,
    options: RenderOptions,
    keeps: Keeps = "pixels",
    seen: Seen | None = None,
    moments: Sequence[Scene] = (),
) -> Tracing:
    """Return what traces a picture of a solid on the device asked for.

    `seen`, `moments`: as of `Tracing`.
    """
    choice = choose_one(options.device, "a solid", options.on_message)
    threads = threads_for(options.threads, choice.device.cores or 1)
    plan = make_solid_plan(scene, choice.device.kind, threads, keeps)
    free = memory_size()
    if free and plan.memory > FREE * free:
        raise OptionError(
            f"the picture takes {plan.memory / 2**30:.3g} GiB, and {free / 2**30:.3g} GiB are "
            "free: give a smaller size=, or draw it into a PNG file and keep no samples, which "
            "needs less"
        )
    device, backend, note = open_chosen(choice, options.device, plan.precision, options.threads)
    if note:
        options.on_message(note)
    return Tracing(replace(plan, device=device.kind), backend, seen, moments)
