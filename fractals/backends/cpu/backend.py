"""The CPU backend: programs that Numba compiles, and that run without the interpreter's lock."""

import functools
import re

import numpy as np
from numba.core.errors import NumbaError

from fractals.backends.base import HostMemory, Run
from fractals.backends.code_cache import program
from fractals.backends.cpu import (
    direct,
    packet_lists,
    palette_lookup,
    perturb_packets,
    strip_frames,
    tile_loop,
)
from fractals.backends.cpu.simd import pack
from fractals.backends.cpu.target import REAL, compile_body, compile_loop, cpu_target, typed_once
from fractals.backends.numba_private import FunctionArgument
from fractals.kernels import escape, perturb, shade, strip
from fractals.kernels.layout import EscapeTile

NO_FMA = "this CPU has no fused multiply-add"
# A call that Numba can't compile, in its messages.
MISSING = re.compile(r">>> (\w+\(.*\))$", re.MULTILINE)
SCRATCH = HostMemory()  # what programs work in, for all pictures of a thread


class CpuBackend(HostMemory):
    """Compiles programs with Numba, for as many threads as tiles are computed by at once."""

    kind = "cpu"

    def __init__(self, number, threads):
        super().__init__()
        self.threads = threads
        self.real = np.dtype(number).type
        self.target = cpu_target(number)
        self._number = number

    def compile(self, make_body, *options):
        """Return ``run(out, *arguments)``, which fills `out`: see `Run` for its loop.

        It is kept for the next picture, so it refers to nothing of this object.
        """
        make = functools.partial(self._made, make_body, options)
        identity = "run", self._number, pack.FUSED, make_body, *options
        return program(lambda _store: make(), *identity)

    def _made(self, make_body, options):
        if make_body is escape.make_body:
            return self._fastest(self._in_packs, "", make_body, options)
        if make_body is perturb.make_body:
            return self._fastest(self._in_packets, _alone(*options), make_body, options)
        if make_body is perturb.make_statistics_body:
            return self._plain(make_body, options, "statistics of deep views need every step")
        if make_body is shade.make_position_body:
            return self._by_position(*options)
        if make_body is shade.make_body and pack.FUSED:
            return self._by_color()
        if make_body is strip.make_frame_body and pack.FUSED:
            return self._by_texels()
        return self._plain(make_body, options)

    def _fastest(self, vectorized, reason, make_body, options):
        """Return a program with SIMD packs, or the plain one with the reason why not.

        Only an error of Numba's compiler falls back: a defect of this package is raised.
        """
        if not pack.FUSED:
            reason = NO_FMA
        elif not reason:
            try:
                return vectorized(*options)
            except NumbaError as error:
                reason = _reason(error)
        return self._plain(make_body, options, reason)

    def _plain(self, make_body, options, reason=""):
        return Run(compile_loop(make_body, self._number, options), "plain", reason)

    def compile_tile_loop(self, work, dtype=None):
        """Return compiled code that computes whole tiles, or None: see `Backend`."""
        return tile_loop.compile_tile_loop(self, self._number, work, dtype)

    def _by_position(self, *options):
        """Return the program that places values, which a tile loop can also take."""
        place = self._compiled(palette_lookup.make_position_body, options, as_argument=True)
        signature = palette_lookup.position_signature(REAL[self._number])
        return Run(place, "plain", program=FunctionArgument.of(place, signature))

    def _by_color(self):
        """Return the program that paints channels as lanes, which a tile loop can also take."""
        fill = self._compiled(palette_lookup.make_body, (), as_argument=True)

        def run(rgb, position, lookup, encode, supersampling, share):
            room = rgb.shape[1] * supersampling**2
            scratch = SCRATCH.empty((room,), np.int32), SCRATCH.empty((room,), np.float32)
            fill(
                rgb, position, palette_lookup.padded(lookup), encode, supersampling, share, *scratch
            )

        return Run(run, "plain", program=fill)

    def _by_texels(self):
        """Return the program that makes frames from a strip."""
        fill = self._compiled(strip_frames.make_body, ())

        def run(rgb, *inputs):
            across = rgb.shape[1]
            sizes = (across, np.int64), (2 * across, np.int32), (3 * across, np.float32)
            fill(rgb, *inputs, *(SCRATCH.empty((size,), dtype) for size, dtype in sizes))

        return Run(run, "plain")

    def _in_packets(self, options):
        fill = self._compiled(perturb_packets.make_body, (options,))
        types = perturb_packets.signature()
        if types not in fill.overloads:
            fill.compile(types)
        fill = typed_once(fill, types)
        # Samples that become too small for float64 leave their packets.
        one_by_one = None
        if options.floatexp:
            one_by_one = compile_loop(perturb.make_body, self._number, (options,))
        sizes = packet_lists.scratch_sizes(packet_lists.row_count(options))

        def run(tile, work, grid, tables, view, max_iterations):
            scratch = packet_lists.Scratch(
                SCRATCH.empty((sizes[0],), np.float64), SCRATCH.empty((sizes[1],), np.int64)
            )
            fill(tile, work, grid, tables, view, max_iterations, scratch)
            if one_by_one and work.under_way[0, 0]:
                rest = view._replace(first_launch=False)
                one_by_one(tile, work, grid, tables, rest, max_iterations)

        return Run(run, "packets")

    def _in_packs(self, options):
        wave = self._compiled(direct.make_body, (options,), as_argument=True, packed=True)
        real, number = REAL[self._number], self.real
        index = np.dtype(f"int{real.bitwidth}")  # as wide as a number, so that both fill a pack
        sizes = functools.partial(direct.scratch_sizes, options=options)

        def run(tile, *inputs):
            numbers, places = sizes(tile.count.shape[1])
            scratch = SCRATCH.empty((numbers,), number), SCRATCH.empty((places,), index)
            wave(EscapeTile(*(part.reshape(-1) for part in tile)), *inputs, *scratch)

        whole = FunctionArgument.of(wave, direct.signature(real))
        return Run(run, "packs", program=whole, scratch_sizes=sizes)

    def _compiled(self, make_body, options, **settings):
        def make():
            return make_body(self.target, *options)

        return compile_body(make, make_body, self._number, options, **settings)


def _alone(options):
    """Return why samples of a deep view can't share their steps; nothing where they can."""
    if options.per_sample_exponent:
        return "each sample has an exponent of its own"
    if options.floatexp and not options.formula.holomorphic:
        return "a formula without a complex derivative needs exponents at every step"
    return ""


def _reason(error):
    """Return in one line what Numba can't compile for SIMD packs, from its message."""
    found = MISSING.findall(str(error))
    return f"no SIMD form of {found[-1]}" if found else str(error).strip().splitlines()[0]
