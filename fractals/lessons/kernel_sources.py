"""The OpenCL C of a scene's kernels, without a device and without pyopencl."""

from typing import Any

import numpy as np

from fractals import catalog
from fractals.backends.base import HostMemory, MakeBody, Run
from fractals.backends.opencl.translate import Source, make_target, source
from fractals.backends.opencl.values import OPENCL, ArrayType, Dialect, TupleType, type_of
from fractals.errors import DeviceError
from fractals.io.load import load_scene
from fractals.kernels import escape, shade
from fractals.kernels.coloring import Coloring
from fractals.kernels.formula import Formula
from fractals.kernels.layout import ColoringInputs, EscapeTile, SampleGrid
from fractals.kernels.orbit import NO_STATISTICS, Statistics
from fractals.rendering.families import family_of
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
    recorders: list[Recorder] = []

    def backend_of(number: str) -> Recorder:
        recorders.append(Recorder(number, dialect))
        return recorders[-1]

    place = family_of(scene).run_kernels(scene, backend_of)
    found = list(recorders[0].sources)
    return [found.pop(place), *found]


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
            sources(load_scene(formula=name))
        elif isinstance(made, Formula):
            iterating(made)
        else:
            plain = catalog.load("formula", "mandelbrot")()
            iterating(plain, Statistics.of((made,), inside=True))
            valuing(made)
    except DeviceError as error:
        return str(error)
    return ""
