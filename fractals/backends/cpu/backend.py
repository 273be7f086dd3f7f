"""@jit loops over a tile, without the interpreter's lock; as many tiles at once as threads."""

import contextlib
import threading

import numpy as np
from numba.core.errors import NumbaError

from fractals.backends.base import HostMemory
from fractals.backends.cpu import direct, packet_lists, palette_lookup, perturb_packets, tile_loop
from fractals.backends.cpu.simd import pack
from fractals.backends.cpu.target import REAL, compile_body, compile_loop, cpu_target
from fractals.kernels import escape, perturb, shade
from fractals.kernels.layout import EscapeTile


class CpuBackend(HostMemory):
    """Compiles programs with Numba for the CPU's cores."""

    kind = "cpu"

    def __init__(self, number, threads):
        super().__init__()
        self.threads = threads
        self.real = np.dtype(number).type
        self.target = cpu_target(number)
        self._number = number

    def compile(self, make_body, *options):
        """Return ``run(out, *arguments)``, which fills `out`."""
        if make_body is escape.make_body and pack.FUSED:
            with contextlib.suppress(NumbaError):  # the formula does what packs can't, as sin does
                return self._in_packs(*options)
        if make_body is perturb.make_body and pack.FUSED:
            formula, extended, scaled = options[0], options[3], "scaled" in options[4:]
            # Others need exponents at every step, or share none.
            if (formula.holomorphic or not extended) and not scaled:
                with contextlib.suppress(NumbaError):
                    return self._in_packets(*options)
        if make_body is shade.make_position_body:
            return self._by_position(*options)
        if make_body is shade.make_body and pack.FUSED:
            return self._by_color()
        return compile_loop(make_body, self._number, options)

    def compile_tile_loop(self, work, dtype=None):
        """Return compiled code that does all work of tiles, or None: see `Backend`."""
        return tile_loop.compile_tile_loop(self, self._number, work, dtype)

    def _by_position(self, *options):
        """Return the program that places values, which a tile loop can also take."""
        body = palette_lookup.make_position_body(self.target, *options)
        place = compile_body(body, palette_lookup.make_position_body, self._number, options)
        signature = palette_lookup.position_signature(REAL[self._number])

        def run(*arguments):
            place(*arguments)

        run.program = tile_loop.Function(place, signature)
        return run

    def _by_color(self):
        """Return the program that paints channels as lanes, which a tile loop can also take."""
        body = palette_lookup.make_body(self.target)
        fill = compile_body(body, palette_lookup.make_body, self._number, ())

        def run(rgb, position, lookup, encode, supersampling, share):
            room = rgb.shape[1] * supersampling**2
            scratch = self.empty((room,), np.int32), self.empty((room,), np.float32)
            fill(
                rgb, position, palette_lookup.padded(lookup), encode, supersampling, share, *scratch
            )

        run.program = fill
        return run

    def _in_packets(self, formula, julia, derivative, extended, *listed):
        options = formula, julia, derivative, extended, *listed
        body = perturb_packets.make_body(self.target, *options)
        travel = compile_body(body, perturb_packets.make_body, self._number, options)
        travel.compile(perturb_packets.signature())
        one_by_one = compile_loop(perturb.make_body, self._number, options) if extended else None
        sizes = packet_lists.scratch_sizes(packet_lists.rows_of(formula, derivative, extended))
        own = threading.local()  # each thread's scratch

        def run(*arguments):
            if not hasattr(own, "scratch"):
                own.scratch = self.empty((sizes[0],), np.float64), self.empty((sizes[1],), np.int64)
            flat = (part.reshape(-1) for part in arguments[:7])
            travel(*flat, *arguments[7:], *own.scratch)
            under_way, view = arguments[6], arguments[-2].copy()
            if one_by_one and under_way[0, 0]:
                view[perturb.FRESH] = 0
                one_by_one(*arguments[:-2], view, arguments[-1])

        return run

    def _in_packs(self, options):
        body = direct.make_body(self.target, options)
        wave = compile_body(body, direct.make_body, self._number, (options,))
        real = REAL[self._number]
        index = np.dtype(f"int{real.bitwidth}")  # as wide as a number, so that both fill a pack
        own = threading.local()  # each thread's scratch

        def run(tile, *inputs):
            width, planes = tile.count.shape[1], options.statistics.planes
            sizes = numbers, places = direct.scratch_sizes(width, planes)
            if getattr(own, "sizes", None) != sizes:
                own.sizes = sizes
                own.scratch = self.empty((numbers,), self.real), self.empty((places,), index)
            flat = EscapeTile(*(part.reshape(-1) for part in tile))
            wave(flat, *inputs, *own.scratch)

        run.program = tile_loop.Function(wave, direct.signature(real))
        return run
