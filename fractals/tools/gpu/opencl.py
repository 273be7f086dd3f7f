"""The OpenCL C of a scene's kernels, without a device and without pyopencl."""

from typing import Any

import numpy as np

from fractals import catalog
from fractals.backends.base import HostMemory, MakeBody, Run
from fractals.backends.opencl.intrinsics import OPENCL, Dialect
from fractals.backends.opencl.translate import Source, make_target, source
from fractals.backends.opencl.values import ArrayType, TupleType, type_of
from fractals.errors import DeviceError, OptionError
from fractals.io.load import load_scene
from fractals.kernels import escape, shade
from fractals.kernels.coloring import Coloring
from fractals.kernels.formula import Formula
from fractals.kernels.layout import ColoringInputs, EscapeTile, SampleGrid
from fractals.kernels.orbit import NO_STATISTICS, Statistics
from fractals.rendering import drawing
from fractals.rendering.families import family_of
from fractals.rendering.families.solid import Solids
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import make_plan
from fractals.rendering.solid.plan import make_solid_plan
from fractals.rendering.solid.trace import Tracing
from fractals.scene.model import Scene

PLANE, REALS = ArrayType("double", 2), ArrayType("double", 1)
TILE = TupleType(
    (ArrayType("int", 2), PLANE, PLANE, PLANE, PLANE, ArrayType("double", 3)),
    EscapeTile._fields,
    "EscapeTile",
)
GRID = TupleType((PLANE, PLANE), SampleGrid._fields, "SampleGrid")
INPUTS = TupleType(
    ("int", REALS, "int", "double", "double", "double"), ColoringInputs._fields, "ColoringInputs"
)
LIMIT = 1000  # iterations, where a scene leaves them to a probe


class Recorder(HostMemory):
    """A backend that translates programs and runs none."""

    kind, threads = "simulator", 0  # a simulator has the CPU look at a view first

    def __init__(self, number: str, dialect: Dialect = OPENCL) -> None:
        super().__init__()
        self._dialect = dialect
        self.real, self.target, self._number = np.dtype(number).type, make_target(number), number
        self.sources: dict[Source, None] = {}  # in the order in which they ran

    def compile(self, make_body: MakeBody, *options: Any) -> Run:
        """Return a program that fills its first argument with zeros, and keeps its text."""

        def run(out: Any, *arguments: Any) -> None:
            types = tuple(map(type_of, (out, *arguments)))
            made = source(make_body, options, types, self._number, self._dialect)
            self.sources[made] = None
            for array in out if isinstance(out, tuple) else (out,):
                if array.flags.writeable:
                    array[...] = 0

        return Run(run, "kernel")


def sources(scene: Scene, dialect: Dialect = OPENCL) -> list[Source]:
    """Return the kernels of a picture: first the one that iterates, or traces, then the others."""
    if "double" in dialect.lacks:
        scene = scene.replace(precision="float32")
    if isinstance(family_of(scene), Solids):
        return _of_solid(scene, dialect)
    if not family_of(scene).single_pixels:
        raise OptionError("flames and other scatter images have no kernels of this kind")
    if scene.iteration.max_iterations == "auto":
        scene = scene.replace(max_iterations=LIMIT)
    plan = make_plan(scene.replace(size=(8, 6)), "opencl", keeps="pixels")
    recorder = Recorder(plan.precision, dialect)
    options = RenderOptions(device="simulator", on_message=lambda line: None)
    opened = drawing.open_drawing(plan, recorder, options)
    drawing.draw_tile(opened, plan.tiles[0], np.zeros((6, 8, 3), opened.dtype))
    return list(recorder.sources)


def _of_solid(scene: Scene, dialect: Dialect) -> list[Source]:
    """Return the kernels of a solid: the one of its light, of the first rays, and of the colors."""
    plan = make_solid_plan(scene.replace(size=(8, 6)), "opencl", 1, "pixels")
    recorder = Recorder(plan.precision, dialect)
    tracing, sums = Tracing(plan, recorder), np.zeros((6, 8, 3), np.int64)
    tracing.add(sums, range(6), 0, 1, None)
    tracing.pixels(sums, 1)
    first, light, *others = recorder.sources
    return [light, first, *others]


def iterating(formula: Formula, statistics: Statistics = NO_STATISTICS) -> Source:
    """Return the program of a formula's direct iteration, with dz where it has one."""
    dz = formula.remember is None
    options = escape.EscapeOptions(formula, derivative=dz, statistics=statistics.compiled())
    return source(escape.make_body, (options,), (TILE, GRID, REALS, "int"), "float64")


def valuing(coloring: Coloring) -> Source:
    """Return the program of a coloring's values."""
    planes = len(coloring.statistic.names) if coloring.statistic else 0
    options = shade.ValueOptions(coloring.for_coloring(), "both", planes)
    return source(shade.make_value_body, (options,), (PLANE, TILE, INPUTS), "float64")


def lacking(kind: str, name: str) -> str:
    """Return why a formula, a coloring or a solid can't be drawn by OpenCL; "" where it can."""
    made = catalog.load(kind, name)()
    try:
        if kind == "solid":
            _of_solid(load_scene(formula=name), OPENCL)
        elif isinstance(made, Formula):
            iterating(made)
        else:
            plain = catalog.load("formula", "mandelbrot")()
            iterating(plain, Statistics.of((made,), inside=True))
            valuing(made)
    except DeviceError as error:
        return str(error)
    return ""
