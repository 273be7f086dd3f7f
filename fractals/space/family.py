"""Solids: rays walk to a surface in space, and paths of light are traced from there."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Stages
from fractals.errors import OptionError, counted
from fractals.io import png
from fractals.io.escape_data import STORE
from fractals.io.facts import Partial
from fractals.io.files import check_output, read_store_header
from fractals.io.image import Image, PictureFile, png_beginning
from fractals.rendering.families import Family, Refined, Rendered, chosen_device, written_to
from fractals.rendering.options import RenderOptions, StoreOptions
from fractals.rendering.stores.compute_store import Computed
from fractals.rendering.stores.kept import Kept, kept_beside
from fractals.rendering.stores.sums import Play, SumStore, play_here
from fractals.scene.model import Scene
from fractals.scene.space import part_of
from fractals.space.enough import Filling
from fractals.space.passes import channels_of, colored, numbers_in
from fractals.space.plan import Seen, SolidPlan, has_pinhole, make_solid_plan, samples_of
from fractals.space.rounds import LightPreview, Rounds
from fractals.space.store import (
    KIND,
    SUMS,
    LightAdder,
    LightSums,
    compute_light_to,
    relit,
)
from fractals.space.trace import NOTHING, Tracing, open_tracing
from fractals.threads import threads_for, within

if TYPE_CHECKING:
    from fractals.rendering.moves import Moves

# Pixels that one of a first look covers, along each side: as few as FIRST_SECONDS allow, if an
# earlier look of the view tells how long one takes.
FIRST_STEPS = 1, 2, 4
FIRST_SECONDS = 1 / 30
FIRST_SIDE = 128  # pixels: a smaller image is drawn at its own size at once
ROWS = 64  # of the image, that are traced in a step
MOST_BYTES = 2**31  # of the sums
POINT_SET = re.compile(r"(?:^|;)\s*[xy]\s*=(?!=)", re.ASCII)  # statements that set x or y


@dataclass(frozen=True)
class SolidFacts:
    """What is known of a picture of a solid: what keeps a film's colors and haze the same."""

    samples: int  # of a pixel, at most
    seen: Seen
    mean: float = 0.0  # samples of a pixel, where each has as many as it needs

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        ends = [float(f"{self.seen.traps[k]:.6g}") for k in (0, -1)]
        depth = float(f"{self.seen.depth:.6g}")
        table = {"samples_per_pixel": self.samples, "depth": depth, "range": ends}
        return table | ({"mean_samples": round(self.mean, 2)} if self.mean else {})

    def __str__(self) -> str:
        if self.mean:
            return f"{counted(f'{self.mean:.3g}', 'sample a pixel')}, at most {self.samples}"
        return counted(self.samples, "sample a pixel")


class SolidRefinement:
    """A picture of a solid that becomes ever finer; see `fractals.rendering.families.Refinement`.

    The first pictures are lit without bounces: by the sun, and by the sky as far as the
    surroundings leave a surface open; one is small, and one as large as the image. The small one is
    as large as one can be 30 times a second, going by the picture before. Then the samples of the
    image itself are added up, and shown each time that there are twice as many.
    """

    def __init__(
        self,
        scene: Scene,
        options: RenderOptions,
        backend_of: Callable[[str], Backend],
        before: Any = None,
    ) -> None:
        self._scene, self._options, self._backend_of = scene, options, backend_of
        self._tracing: Tracing | None = None
        self._filling: Filling | None = None  # the sums
        self._done = 0  # samples in the sums, of pixels that need as many
        self._even = True  # whether all rows have as many samples
        self._speed = 0.0  # pixels a second of the last small picture
        self.share = 0.0  # of the samples, that are summed
        if isinstance(before, SolidRefinement):
            self._speed = before._speed
        if isinstance(before, SolidRefinement) and before._even:
            same = before._scene.model_copy(update={"develop": scene.develop}) == scene
            # A denoiser needs guides, and fewer samples
            same &= before._scene.develop.denoise == scene.develop.denoise
            if same:  # the same light, developed in another way
                self._filling, self._done = before._filling, before._done

    @property
    def kept(self) -> int:
        """Return the bytes of the sums."""
        return 0 if self._filling is None else sum(each.nbytes for each in self._filling)

    def free(self) -> None:
        """Free the sums."""
        self._filling, self._done = None, 0

    def prepare(self) -> None:
        """Compile what traces and shows."""
        if self._tracing is None:
            self._tracing = self._traced(self._scene)
            small = self._traced(self._scene.replace(size=(16, 16), whole=None, bounces=0))
            self._whole(small, 1)

    def _traced(self, scene: Scene) -> Tracing:
        plan = make_solid_plan(scene, "cpu", 1)
        if plan.memory > MOST_BYTES:
            raise OptionError("this image takes too much memory: choose a smaller window")
        backend = self._backend_of(plan.precision)
        return Tracing(replace(plan, device=backend.kind, threads=backend.threads or 1), backend)

    def _first_step(self) -> int:
        """Return how many pixels one of the first look covers, along each side."""
        size = self._scene.image.size
        if max(size) <= FIRST_SIDE:
            return 1
        most = self._speed * FIRST_SECONDS
        quick = (step for step in FIRST_STEPS if math.prod(size) <= most * step**2)
        return next(quick, FIRST_STEPS[-1])

    def _look(self, step: int, timed: bool = True) -> NDArray[Any]:
        """Return a picture without bounces, whose pixels cover `step` of the image a side."""
        begun, scene = perf_counter(), self._scene
        pair = scene.camera.stereo > 0 and scene.camera.eye == "both"
        unit = step * (2 if pair and step > 1 else 1)  # a pair has equal halves
        width, height = (unit // step * -(-side // unit) for side in scene.image.size)
        whole = smaller(scene.camera.whole, (width, height), step, unit // step)
        small = scene.replace(size=(width, height), whole=whole, bounces=0)
        pixels = self._whole(self._traced(small), 1)
        if timed:
            self._speed = width * height / (perf_counter() - begun)
        return pixels

    def _whole(self, tracing: Tracing, samples: int) -> NDArray[Any]:
        """Return the picture of some samples."""
        width, height = tracing.plan.scene.image.size
        sums = np.zeros((height, width, 3), np.int64)
        tracing.add(sums, range(height), 0, samples, self._options.on_progress)
        return tracing.pixels(sums, samples)

    def _shown(self, tracing: Tracing, filling: Filling) -> NDArray[Any]:
        """Return the picture of sums; the last one is without noise where that is asked."""
        most = tracing.effort.most
        sums = tracing.cut(filling.even(most))
        if self._done == most:
            return tracing.finished(tracing.light(sums, most))
        return tracing.pixels(sums, most)

    def pictures(self) -> Iterator[Refined | None]:
        """Yield pictures, the last one exact, and None after each step."""
        self.prepare()
        tracing = self._tracing
        assert tracing
        height = self._scene.image.size[1]
        whole = tracing.effort.most
        if self._filling is None:
            step = self._first_step()
            if step > 1:
                yield Refined(self._look(step), step, "a first look", False)
            yield Refined(self._look(1, step == 1), 1, "a fast look", False)
            self._filling = tracing.filling()
        filling, shown, spent, took = self._filling, self._done, 0.0, 0.0
        if shown:
            said = f"{shown} of {counted(whole, 'sample')}"
            yield Refined(self._shown(tracing, filling), 1, said, shown == whole)
        while self._done < whole:
            self._even, last = False, tracing.effort.after(self._done)
            for top in range(0, height, ROWS):
                rows = range(top, min(height, top + ROWS))
                begun = perf_counter()
                part, samples = filling.part(slice(top, rows.stop)), (self._done, last)
                tracing.go_on(part, rows, samples, self._options.on_progress)
                spent += perf_counter() - begun
                lit = (last - self._done) * rows.stop / height
                self.share = (self._done + lit) / whole
                yield None
            self._done, self._even = last, True
            if not filling.active.any():
                self._done = whole
            if self._done < whole and (last < 2 * shown or spent < took):
                continue
            begun, shown = perf_counter(), last
            pixels = self._shown(tracing, filling)
            spent, took = 0.0, perf_counter() - begun
            said = f"{self._done} of {counted(whole, 'sample')}"
            yield Refined(pixels, 1, said, self._done == whole)


class Solids(Family):
    """The family of solids; see `fractals.rendering.families.Family`."""

    title = "Solids: rays walk to a surface in space, lit by sun and sky"
    tables = ("camera", "light")
    layered = (".exr",)
    suffixes = (STORE,)
    keeps = True

    @property
    def moves(self) -> "Moves":
        """Return how views move: a camera does."""
        from fractals.space.moves import CameraMoves

        return CameraMoves()

    def plan(self, scene: Scene, options: RenderOptions, keeps: Any) -> SolidPlan:
        """Return how a scene is drawn."""
        device, threads = chosen_device(options)
        return make_solid_plan(scene, device.kind, threads, keeps)

    def plan_table(
        self, scene: Scene, options: RenderOptions, keeps: Any, measures: bool
    ) -> dict[str, Any]:
        """Return the plan as plain values."""
        plan = self.plan(scene, options, keeps)
        return plan.to_table() | ({"file": plan.file_size} if keeps == "store" else {})

    def render(self, scene: Scene, options: RenderOptions) -> Image:
        """Draw a picture."""
        return self.expose([scene], options)

    def taken_for(self, scene: Scene) -> str:
        """Return a line about statements that could be those of a program, or an empty text."""
        step = (getattr(scene.formula, "model_extra", None) or {}).get("step", "")
        own = scene.formula.name == "solid_expression" and isinstance(step, str)
        if not own or not step or POINT_SET.search(step):
            return ""
        return (
            "formula: statements that set neither x nor y were taken for those of a solid; "
            "'program,step=...' takes them for a program of z in the plane"
        )

    def shared(self, scenes: Sequence[Scene], options: RenderOptions) -> Seen:
        """Return what some frames of a film see together, so that haze and colors do not jump."""
        quiet, found = options.replace(on_message=lambda line: None), dict[Any, Scene]()
        for scene in scenes:
            seen = scene.camera, str(scene.formula), scene.iteration
            found.setdefault(seen, scene)
        probes = [open_tracing(scene, quiet, seen=NOTHING).probe() for scene in found.values()]
        return Seen.of(np.concatenate(probes))

    def expose(self, scenes: Sequence[Scene], options: RenderOptions, shared: Any = None) -> Image:
        """Draw a picture, or a frame of a film: each moment has its share of the samples."""
        scene, stages = scenes[0], Stages()
        if len(scenes) > 1:  # moments share the samples of a pixel, so all pixels have as many
            scene = scene.replace(samples=samples_of(scene))
        tracing = open_tracing(scene, options, seen=shared, moments=scenes[1:])
        width, height = scene.image.size
        whole, real = tracing.whole, tracing.backend.real
        numbers = tracing.numbers if whole else 3
        pixels = np.empty((height, width, numbers), real if whole else scene.image.dtype)
        for rows, part in bands(tracing, options, stages):
            pixels[rows.start : rows.stop] = part
        if whole:
            pixels = tracing.finished(pixels)
            stages.lap("color")
        return Image(pixels, **facts_of(tracing, stages))

    def compared(self, scene: Scene, options: RenderOptions) -> tuple[int, str]:
        """Return the checksum of the light of a small picture, and the device's kind."""
        adder = LightAdder(open_tracing(scene, options))
        adder.check_sent()
        return adder.short_sum(), adder.plan.device

    def render_to(
        self,
        path: str | Path | BinaryIO,
        scene: Scene,
        options: RenderOptions,
        overwrite: bool,
        cluster: Any,
    ) -> Rendered:
        """Draw a picture into a file, whose rows are written while others are drawn."""
        layered = isinstance(path, str | Path) and Path(path).suffix.lower() in self.layered
        if cluster is not None:
            if layered:
                raise OptionError("an EXR of a solid is written by one machine: leave cluster= out")
            from fractals.rendering.cluster.sums import render_by

            target = PictureFile(path, scene.image, overwrite)
            return render_by(cluster, path, target, scene, options, self)
        if options.watch and options.watch.keeps:
            assert isinstance(path, str | Path)
            return self._keep(Path(path), scene, options, overwrite, layered)
        if layered:
            assert isinstance(path, str | Path)
            return self._write_light(Path(path), scene, options, overwrite)
        stages, target = Stages(), PictureFile(path, scene.image, overwrite)
        if not target.streams or scene.develop.whole:
            return written_to(target, self.render(scene, options), options)
        tracing = open_tracing(scene, options, "bands")
        picture, number = scene.image, 0
        tall, threads = png.strip_rows(picture.size, picture.bits), threads_for(options.threads)
        with target.open() as file, kept_of(path, tracing.plan) as kept:
            writer = png.PngWriter(file, png_beginning(scene, picture.size, picture.bits))
            for _, part in bands(tracing, options, stages, tall, kept=kept):
                number = png.put_rows(writer, number, part, tall, picture.compression, threads)
                stages.lap("encode")
            writer.end()
        return Rendered(**facts_of(tracing, stages))

    def _keep(
        self, path: Path, scene: Scene, options: RenderOptions, overwrite: bool, layered: bool
    ) -> Rendered:
        """Draw a picture, or write its light, whose samples are kept where Ctrl-C ends it."""
        from fractals.io.raw import exr
        from fractals.rendering.stores.keeping import Arrays, draw_kept

        stages, watch = Stages(), options.watch
        assert watch
        tracing = open_tracing(scene, options, "store")
        precision, numbers = tracing.plan.precision, tracing.numbers
        if layered:
            numbers = numbers_in(scene)
            if has_pinhole(scene):
                options.on_message(
                    "keep=True leaves out pinhole, the picture before the lens: leave keep=True "
                    "out to have it"
                )
        # Guides of other versions have other numbers, and rounds other arrays
        version = [SUMS, numbers, len(Filling._fields)]

        def draw(before: Arrays | None) -> tuple[Any, Arrays]:
            width, height = scene.image.size
            sums = np.zeros((height, width, numbers), np.int64)
            preview = preview_of(tracing) if watch.shows else None
            rounds = Rounds(tracing, sums, range(height), preview, before)
            rounds.run(watch, options.on_progress)
            stages.lap("iterate")
            most, rest = tracing.effort.most, {}
            light = tracing.light(rounds.even(), most)
            made = light if layered else tracing.finished(light)
            stages.lap("color")
            facts = facts_of(tracing, stages)
            if not rounds.whole:
                rest, mean = rounds.kept(), float(rounds.filling.counts.mean())
                facts["summary"] = Partial(mean, most, "sample a pixel")
            return ((made, facts) if layered else Image(made, **facts)), rest

        if not layered:
            return draw_kept(path, scene, precision, version, options, overwrite, draw)
        exr.library()  # before anything is drawn

        def open_file(replaces: bool) -> Callable[[Any], Rendered]:
            check_output(path, replaces)

            def write(made: tuple[NDArray[Any], dict[str, Any]]) -> Rendered:
                light, facts = made
                exr.save_picture(path, channels_of(tracing, light), scene, replaces)
                return Rendered(**facts)

            return write

        return draw_kept(path, scene, precision, version, options, overwrite, draw, open_file)

    def _write_light(
        self, path: Path, scene: Scene, options: RenderOptions, overwrite: bool
    ) -> Rendered:
        """Write the light of a picture, and the surface that it shows, as an EXR."""
        from fractals.io.raw import exr

        stages = Stages()
        exr.library()  # before anything is drawn
        check_output(path, overwrite)
        tracing, own = open_tracing(scene, options), options
        sharp = has_pinhole(scene)
        if sharp:  # the picture before the lens follows
            own = options.replace(progress=within(options.on_progress, 0, 1, 2))
        channels = channels_of(tracing, light_of(tracing, own, stages))
        if sharp:
            own = options.replace(progress=within(options.on_progress, 1, 1, 2))
            before = scene.replace(lens=0.0, relight=False)
            pinhole = open_tracing(before, options, seen=tracing.seen)
            channels |= colored("pinhole", light_of(pinhole, own, stages))
        stages.lap("iterate")
        exr.save_picture(path, channels, scene, overwrite)
        stages.lap("encode")
        return Rendered(**facts_of(tracing, stages))

    def refine(
        self,
        scene: Scene,
        options: RenderOptions,
        backend_of: Callable[[str], Backend],
        before: Any = None,
    ) -> SolidRefinement:
        """Return a picture that becomes ever finer: samples are added up."""
        return SolidRefinement(scene, options, backend_of, before)

    def run_kernels(self, scene: Scene, backend_of: Callable[[str], Backend]) -> int:
        """Draw some pixels; the first kernel looks for the surface, and the second one traces."""
        plan = make_solid_plan(scene.replace(size=(8, 6), whole=None), "opencl", 1, "pixels")
        tracing, sums = Tracing(plan, backend_of(plan.precision)), np.zeros((6, 8, 3), np.int64)
        tracing.add(sums, range(6), 0, 1, None)
        tracing.pixels(sums, 1)
        return 1

    def redraw(self, scene: Scene, options: RenderOptions, seed: int) -> Image:
        """Draw a picture again, and compare the light of some pixels with plain Python's."""
        if scene.develop.denoise:
            raise OptionError(
                "its noise was removed by Open Image Denoise, whose bits differ between machines: "
                "only a picture without denoise can be verified"
            )
        open_tracing(scene, options).check(seed)
        return self.render(scene, options)

    def fingerprint(self, scene: Scene, options: RenderOptions) -> bytes:
        """Return the pixels of one path of light each, which are equal on every device."""
        pixels: bytes = self.render(scene.replace(samples=1), options).pixels.tobytes()
        return pixels

    def compute(self, scene: Scene, options: RenderOptions) -> LightSums:
        """Add up the light of a picture."""
        adder = KIND.open(scene, options)
        light: LightSums = adder.add(adder.none(), adder.plan.chunks, options.on_progress)
        return light

    def compute_to(
        self, path: Path, scene: Scene, options: RenderOptions, store_options: StoreOptions
    ) -> Computed:
        """Add up the light of a picture into a store, or go on with one."""
        play: Play = play_here
        if store_options.cluster is not None:
            from fractals.rendering.cluster.sums import played_by

            play = played_by(store_options.cluster)
        return compute_light_to(path, scene, options, store_options, play)

    def load(self, path: Path) -> LightSums:
        """Return the light of a store."""
        light: LightSums = SumStore(path, read_store_header(path), KIND).load()
        return light

    def recolor(self, raw: LightSums, scene: Scene, options: RenderOptions) -> Image:
        """Show the light of samples, developed in another way, and of other sources."""
        stages = Stages()
        sums, samples = raw.even()
        sums = relit(replace(raw, sums=sums), scene)
        if raw.scene.light.samples != "auto":
            scene = scene.replace(samples=samples)
        tracing = open_tracing(scene, options)
        if tracing.whole:
            pixels = tracing.finished(tracing.light(sums, samples))
        else:
            pixels = tracing.pixels(sums, samples)
        stages.lap("color")
        return Image(pixels, **facts_of(tracing, stages))


def smaller(whole: str | None, size: tuple[int, int], step: int, unit: int) -> str | None:
    """Return the key `whole` of a picture of a size whose pixels cover `step` a side.

    The sides of the whole are multiples of `unit`.
    """
    if whole is None:
        return None
    width, height, *corner = part_of(whole)
    corner = [first // step for first in corner]
    sides = [
        unit * -(-max(-(-side // step), first + shown) // unit)
        for side, first, shown in zip((width, height), corner, size, strict=True)
    ]
    return f"{sides[0]}x{sides[1]}+{corner[0]}+{corner[1]}"


def preview_of(tracing: Tracing) -> LightPreview:
    """Return the preview of a picture."""
    plan = tracing.plan
    return LightPreview(plan.scene, tracing.backend, plan.whole_size, plan.corner)


@contextmanager
def kept_of(path: str | Path | BinaryIO, plan: SolidPlan) -> Iterator[Kept | None]:
    """Keep the bands of a picture beside its file, if there are several."""
    if not isinstance(path, str | Path) or plan.band == plan.scene.image.size[1]:
        yield None
        return
    with kept_beside(Path(path)) as kept:
        kept.begin({"scene": plan.scene.to_toml(), "precision": plan.precision}, plan.band)
        yield kept


def bands(
    tracing: Tracing,
    options: RenderOptions,
    stages: Stages,
    tall: int = 1,
    light: bool = False,
    kept: Kept | None = None,
) -> Iterator[tuple[range, NDArray[Any]]]:
    """Yield rows and pixels of a picture in bands, whose rows are a multiple of `tall`.

    They are light where that is asked, or where pixels depend on that of the whole picture.
    """
    plan = tracing.plan
    (width, height), samples = plan.scene.image.size, tracing.effort.most
    step = height if plan.band == height else max(1, plan.band // tall) * tall
    watch = options.watch if options.watch and options.watch.shows else None
    preview = preview_of(tracing) if watch else None
    for top in range(0, height, step):
        rows = range(top, min(height, top + step))
        name = f"rows-{rows.start}-{rows.stop}"
        if (found := kept.load(name) if kept else None) and "pixels" in found:
            yield rows, found["pixels"]
            continue
        numbers = numbers_in(plan.scene) if light else tracing.numbers
        sums = np.zeros((len(rows), width, numbers), np.int64)
        progress = within(options.on_progress, top, len(rows), height)
        if watch:
            rounds = Rounds(tracing, sums, rows, preview)
            rounds.run(watch, progress)
            rounds.end()
        else:
            tracing.fill(sums, rows, progress)
        stages.lap("iterate")
        if light or tracing.whole:
            part = tracing.light(sums, samples)
        else:
            part = tracing.pixels(sums, samples, rows.start)
        stages.lap("color")
        if kept:
            kept.save(name, pixels=part)
        yield rows, part


def light_of(tracing: Tracing, options: RenderOptions, stages: Stages) -> NDArray[Any]:
    """Return the light of a picture, as of `fractals.space.passes.channels_of`."""
    scene = tracing.plan.scene
    width, height = scene.image.size
    light = np.empty((height, width, numbers_in(scene)), tracing.backend.real)
    for rows, part in bands(tracing, options, stages, light=True):
        light[rows.start : rows.stop] = part
    return light


def facts_of(tracing: Tracing, stages: Stages) -> dict[str, Any]:
    """Return the facts of a picture's making, as of `fractals.io.facts.PictureFacts`."""
    plan = tracing.plan
    return {
        "scene": plan.scene,
        "timings": stages.seconds,
        "device": plan.device,
        "precision": plan.precision,
        "method": plan.method,
        "loop": tracing.loop,
        "summary": SolidFacts(tracing.effort.most, tracing.seen, tracing.mean),
    }


make = Solids  # as the catalog finds it
