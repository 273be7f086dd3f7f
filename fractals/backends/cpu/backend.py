"""The CPU backend: compiled programs, which run without the interpreter's lock.

Nothing here imports Numba: `fractals.backends.cpu.programs` does where it has to compile.
"""

import functools

import numpy as np

from fractals.backends.base import HostMemory, Run
from fractals.backends.code_cache import program
from fractals.backends.cpu import programs, tile_loop
from fractals.backends.cpu.programs import program_of
from fractals.backends.machine_code import FUSED, Laid, Uncompilable
from fractals.kernels import display, escape, perturb, shade, strip
from fractals.kernels.layout import EscapeTile

NO_FMA = "this CPU has no fused multiply-add"
SCRATCH = HostMemory()  # what programs work in, for all pictures of a thread
# Bodies of whole arrays, in modules that import Numba.
DIRECT = "fractals.backends.cpu.direct:make_body"
PACKETS = "fractals.backends.cpu.perturb_packets:make_body"
PLACE = "fractals.backends.cpu.pixels:make_position_body"
PAINT = "fractals.backends.cpu.pixels:make_paint_body"
SPREADING = "fractals.backends.cpu.pixels:make_estimate_body"
DEVELOPING = "fractals.backends.cpu.pixels:make_develop_body"
PACK = 64  # elements of the longest pack, which a program may write behind a row
UNROLLED = 2  # most samples along an axis of a pixel for which a program of their own paints
FRAMES = "fractals.backends.cpu.pixels:make_frame_body"


class CpuBackend(HostMemory):
    """Compiles programs with Numba, for as many threads as tiles are computed by at once."""

    kind = "cpu"
    program = staticmethod(program_of)  # makes programs
    scratch = SCRATCH

    def __init__(self, number, threads):
        super().__init__()
        self.threads = threads
        self.real = np.dtype(number).type
        self._number = number

    @property
    def target(self):
        """How functions are compiled."""
        from fractals.backends.cpu.target import cpu_target

        return cpu_target(self._number)

    def compile(self, make_body, *options):
        """Return ``run(out, *arguments)``, which fills `out`: see `Run` for its loop.

        It is kept for the next picture, so it refers to nothing of this object.
        """
        make = functools.partial(self._made, make_body, options)
        identity = "run", self._number, FUSED, make_body, *options
        return program(lambda _store: make(), *identity, stored=False)

    def _made(self, make_body, options):
        if make_body is escape.make_body:
            return self._fastest(self._in_packs, "", make_body, options)
        if make_body is perturb.make_body:
            return self._fastest(self._in_packets, _alone(*options), make_body, options)
        if make_body is perturb.make_statistics_body:
            return self._plain(make_body, options, "statistics of deep views need every step")
        if make_body is shade.make_position_body:
            return self._by_position(*options)
        if make_body is shade.make_body and FUSED:
            return self._by_color()
        if make_body is strip.make_frame_body and FUSED:
            return self._by_texels()
        if make_body is display.make_estimate_body:
            return Run(program_of(SPREADING, self._number), "plain")
        if make_body is display.make_develop_body and FUSED:
            return self._developing(*options)
        return self._plain(make_body, options)

    def _fastest(self, vectorized, reason, make_body, options):
        """Return a program with SIMD packs, or the plain one with the reason why not.

        Only what Numba can't compile falls back: a defect of this package is raised.
        """
        if not FUSED:
            reason = NO_FMA
        elif not reason:
            try:
                return vectorized(*options)
            except Uncompilable as error:
                reason = str(error)
        return self._plain(make_body, options, reason)

    def _plain(self, make_body, options, reason=""):
        made = self.program(make_body, self._number, options, loop=True)
        return Run(made, "plain", reason, bind=made.bound)

    def compile_tile_loop(self, work, dtype=None):
        """Return compiled code that computes whole tiles, or None: see `Backend`."""
        return tile_loop.compile_tile_loop(self, self._number, work, dtype)

    def _by_position(self, *options):
        """Return the program that places values, which a tile loop can also take."""
        place = self.program(PLACE, self._number, options)
        return Run(place, "plain", program=place, bind=place.bound)

    def _by_color(self):
        """Return what paints channels as lanes, by a program for each number of samples a pixel.

        A tile loop can also take these programs.
        """
        number, make, memory = self._number, self.program, self.scratch

        @functools.cache
        def fill_for(n):
            return make(PAINT, number, (n if n <= UNROLLED else 0,))

        def bind(lookup, encode, supersampling, share):
            fill, square = fill_for(int(supersampling)), supersampling**2
            table = Laid(programs.padded(lookup), encode, np.int32(supersampling), share)

            def paint(rgb, position):
                room = rgb.shape[1] * square
                rooms = memory.empty((room,), np.int32), memory.empty((room,), np.float32)
                fill(rgb, position, table, *rooms)

            return paint

        def run(rgb, position, *colors):
            bind(*colors)(rgb, position)

        return Run(run, "plain", program=fill_for, bind=bind)

    def _by_texels(self):
        """Return the program that makes frames from a strip."""
        fill = program_of(FRAMES, self._number)

        def run(rgb, *inputs):
            across = rgb.shape[1]
            sizes = (across, np.int64), (2 * across, np.int32), (3 * across, np.float32)
            fill(rgb, *inputs, *(SCRATCH.empty((size,), dtype) for size, dtype in sizes))

        return Run(run, "plain")

    def _developing(self, options):
        """Return the program that develops light."""
        fill, memory = self.program(DEVELOPING, self._number, (options,), packed=True), self.scratch

        def run(out, light, sheet):
            fill(out, light, sheet, memory.empty((3 * out.shape[1] + PACK,), light.dtype))

        return Run(run, "packs")

    def _in_packets(self, options):
        fill = self.program(PACKETS, self._number, (options,))
        fill.entry(programs.packet_layout())  # compiled now: it may be unsupported
        # Samples that become too small for float64 leave their packets.
        one_by_one = None
        if options.floatexp:
            one_by_one = self.program(perturb.make_body, self._number, (options,), loop=True)
        sizes, memory = programs.packet_sizes(programs.row_count(options)), self.scratch

        def bind(tables, view, max_iterations):
            inputs = Laid(tables, view, max_iterations)
            rest = Laid(tables, view._replace(first_launch=False), max_iterations)

            def iterate(tile, work, grid):
                lists = programs.Scratch(
                    memory.empty((sizes[0],), np.float64), memory.empty((sizes[1],), np.int64)
                )
                fill(tile, work, grid, inputs, lists)
                if one_by_one and work.under_way[0, 0]:
                    one_by_one(tile, work, grid, rest)

            return iterate

        def run(tile, work, grid, *inputs):
            bind(*inputs)(tile, work, grid)

        return Run(run, "packets", bind=bind)

    def _in_packs(self, options):
        wave = self.program(DIRECT, self._number, (options,), packed=True)
        wave.entry(programs.direct_layout(self.real))
        real, index, memory = self.real, programs.index_type(self.real), self.scratch
        sizes = functools.partial(programs.direct_sizes, rows=programs.list_rows(options))

        def run(tile, *inputs):
            numbers, places = sizes(tile.count.shape[1])
            lists = memory.empty((numbers,), real), memory.empty((places,), index)
            wave(EscapeTile(*(part.reshape(-1) for part in tile)), *inputs, *lists)

        return Run(run, "packs", program=wave, scratch_sizes=sizes)


def _alone(options):
    """Return why samples of a deep view can't share their steps; nothing where they can."""
    if options.per_sample_exponent:
        return "each sample has an exponent of its own"
    if options.floatexp and not options.formula.holomorphic:
        return "a formula without a complex derivative needs exponents at every step"
    return ""
