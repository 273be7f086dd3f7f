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
from fractals.kernels.statistics import Watching


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
            (perturbing,) = options
            # The lanes of a packet share an exponent, which is left out in single steps.
            shared = perturbing.formula.holomorphic or not perturbing.floatexp
            if shared and not perturbing.per_sample_exponent:
                with contextlib.suppress(NumbaError):
                    return self._in_packets(perturbing)
        if make_body is shade.make_position_body:
            return self._by_position(*options)
        if make_body is shade.make_body and pack.FUSED:
            return self._by_color()
        return compile_loop(make_body, self._number, options)

    def join(self, work, dtype=None):
        """Return compiled code that does all work of tiles, or None: see `Backend`."""
        return tile_loop.join(self, self._number, work, dtype)

    def _by_position(self, *options):
        body = palette_lookup.make_position_body(self.target, *options)
        place = compile_body(body, palette_lookup.make_position_body, self._number, options)
        signature = palette_lookup.position_signature(REAL[self._number])

        def run(*arguments):
            place(*arguments)

        run.program = tile_loop.Function(place, signature)
        return run

    def _by_color(self):
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

    def _in_packets(self, options):
        body = perturb_packets.make_body(self.target, options)
        fill = compile_body(body, perturb_packets.make_body, self._number, (options,))
        fill.compile(perturb_packets.signature())
        # Samples that become too small for float64 leave their packets.
        one_by_one = None
        if options.floatexp:
            one_by_one = compile_loop(perturb.make_body, self._number, (options,))
        sizes = packet_lists.scratch_sizes(packet_lists.row_count(options))
        own = threading.local()  # each thread's scratch

        def run(count, outputs, work, positions, tables, view, max_iterations):
            if not hasattr(own, "scratch"):
                own.scratch = packet_lists.Scratch(
                    self.empty((sizes[0],), np.float64), self.empty((sizes[1],), np.int64)
                )
            fill(count, outputs, work, positions, tables, view, max_iterations, own.scratch)
            if one_by_one and work.under_way[0, 0]:
                rest = view._replace(first_launch=False)
                one_by_one(count, outputs, work, positions, tables, rest, max_iterations)

        return run

    def _in_packs(self, *options):
        body = direct.make_body(self.target, *options)
        wave = compile_body(body, direct.make_body, self._number, options)
        real = REAL[self._number]
        index = np.dtype(f"int{real.bitwidth}")  # as wide as a number, so that both fill a pack
        own = threading.local()  # each thread's scratch

        planes = next((part.planes for part in options if isinstance(part, Watching)), 0)

        def run(count, x, y, p, q, watched, columns, rows, *rest):
            sizes = numbers, places = direct.scratch_sizes(count.shape[1], planes)
            if getattr(own, "sizes", None) != sizes:
                own.sizes = sizes
                own.scratch = self.empty((numbers,), self.real), self.empty((places,), index)
            flat = (part.reshape(-1) for part in (count, x, y, p, q, watched))
            wave(*flat, columns, rows, *rest, *own.scratch)

        run.program = tile_loop.Function(wave, direct.signature(real))
        return run
