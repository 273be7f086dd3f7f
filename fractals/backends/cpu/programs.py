"""Programs of the CPU: machine code from the disk, or compiled by Numba, and their memory."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fractals.backends import code_cache, machine_code
from fractals.backends.compilation import compiled_apart, compiling
from fractals.backends.machine_code import Layout, MachineCode, Program, Uncompilable, char_of
from fractals.kernels.layout import (
    ColoringInputs,
    EscapeTile,
    PerturbTables,
    PerturbView,
    PerturbWork,
    SampleGrid,
)
from fractals.kernels.orbit import state_size
from fractals.threads import Queue

# The cell of a `fractals.threads.Queue` at which loops look: where it is not 0, they return early.
HALT = Queue.HALT
# Steps of a sample in a plain loop between two looks at whether the tile is still needed. They take
# some 30 us, and to leave a sample and go on with it takes 0.1 us.
PART = 2**14


def program_of(
    make_body: Callable[..., Any] | str,
    number: str,
    options: tuple[Any, ...] = (),
    loop: bool = False,
    checked: bool = False,
    packed: bool = False,
    long: bool = False,
) -> Program:
    """Return the program of the body that ``make_body(target, *options)`` makes.

    `make_body`: a function, or its name as "module:function" where the module needs Numba.
    `number`: "float64" or "float32". `loop`: whether the body computes single elements: the program
    then has a loop over all of them. `checked`: whether indices are checked. `packed`: whether the
    program iterates packs of samples. `long`: whether it is long and takes little of a picture's
    time, so that LLVM takes less time for it.
    """
    kinds = {"loop": loop, "checked": checked, "packed": packed, "long": long}
    name = "-".join(["cpu", *(kind for kind, on in kinds.items() if on)])
    identity = name, number, make_body, *options

    def made(store: code_cache.Store | None) -> Program:
        def load(layout: Layout) -> MachineCode:
            key = f"{layout} for {machine_code.TARGET}"
            found = store.load(key, _stored) if store else None
            if found is None and store:
                found = _shipped(store, layout)
            if found is None:
                found = _made_now((make_body, number, options, layout), kinds, store, key)
            if isinstance(found, Uncompilable):
                raise found
            return found

        return Program(load, store)

    return code_cache.program(made, *identity)


def _made_now(
    what: tuple[Any, ...], kinds: dict[str, bool], store: code_cache.Store | None, key: str
) -> MachineCode | Uncompilable:
    """Return machine code that is compiled, and kept in a store if it stands alone."""
    with compiling():
        data = compiled_apart(_compiled, what, kinds)
    found = machine_code.loaded(data)
    if store and machine_code.stands_alone(data):
        store.save(key, data)
    return found


def _compiled(what: tuple[Any, ...], kinds: dict[str, bool]) -> bytes:
    from fractals.backends.cpu import target

    make_body, _, options, _ = what
    return target.compiled(*what, code_cache.is_foreign(make_body, *options), **kinds)


def _shipped(store: code_cache.Store, layout: Layout) -> MachineCode | Uncompilable | None:
    """Return machine code that came with the package, and is kept as it was unpacked."""
    from fractals.backends.shipped import shipped

    ours = shipped()
    if ours is None:
        return None
    key = ours.key(layout)

    def unpacked(data: bytes) -> MachineCode | Uncompilable:
        found = _stored(data)
        store.save(key, data)
        return found

    return store.load(key, _stored) or ours.load(store, key, unpacked)


def _stored(data: bytes) -> MachineCode | Uncompilable:
    """Return machine code from a file; the linker takes a function that is missing to be at 0."""
    if not machine_code.stands_alone(data):
        raise OSError("it calls functions that this process lacks")
    return machine_code.loaded(data)


def is_stored(make_body: str, number: str, options: tuple[Any, ...]) -> bool:
    """Tell whether there is machine code of a program in a file, for any layout."""
    store = program_of(make_body, number, options).store
    if store is None or store.holds_any():
        return store is not None
    from fractals.backends.shipped import shipped

    ours = shipped()
    return ours is not None and store.name in ours.names


# --- The memory in which programs work, and the layouts of their arguments
#
# Host code reads this without Numba; compiled code takes its numbers from here. A layout is that
# of `fractals.backends.machine_code`.


def array(char, dimensions=1):
    """Return the layout of an array without gaps."""
    return char, dimensions, False


# --- Direct iteration: `fractals.backends.cpu.direct`

SAMPLES = 18432  # most samples in one list: the states left after 16 steps fit into a core's cache
ROOM = 528  # elements behind a list, which a pack may read or write
STATE = 8  # numbers of a state for which the list has rows in any case


def list_rows(options):
    """Return the rows of the list: the state three times, c twice, and an earlier z."""
    own = state_size(options.formula, options.derivative)
    size = max(STATE, own) + options.statistics.planes
    return 3 * size + 2 * 2 + 2


def direct_sizes(width, rows):
    """Return the elements of `numbers` and `places` for rows of `width` samples.

    `rows`: of the list, as `list_rows` counts them.
    """
    room = max(SAMPLES, width) + ROOM
    return (rows + 2) * room, 3 * room


def index_type(real):
    """Return the type of whole numbers as wide as a real one, so that both fill a pack."""
    return np.dtype(f"int{8 * np.dtype(real).itemsize}")


def direct_layout(real):
    """Return the layout of the arguments of a program of direct iteration."""
    char = char_of(real)
    line, plane, places = array(char), array(char, 2), array(char_of(index_type(real)))
    tile = EscapeTile, array("i"), line, line, line, line, line
    return tuple, tile, (SampleGrid, plane, plane), line, "i", line, places, array("q")


# --- Coloring: `fractals.backends.cpu.pixels`


def position_layout(real):
    """Return the layout of the arguments of the program that places values in a palette."""
    char = char_of(real)
    plane = array(char, 2)
    tile = EscapeTile, array("i", 2), plane, plane, plane, plane, array(char, 3)
    inputs = ColoringInputs, "i", array(char), "i", char, char, char
    return tuple, array("f", 2), tile, inputs


def color_layout(dtype):
    """Return the layout of the arguments of the program that looks colors up."""
    char, line = char_of(dtype), array("f")
    return tuple, array(char, 3), array("f", 2), line, array(char), "i", "f", array("i"), line


def padded(lookup):
    """Return a table of colors as one row, of four numbers a color, and one more for a last load.

    A color of four is loaded whole from one line of the cache.
    """
    row = np.zeros((len(lookup) + 1, 4), np.float32)
    row[:-1, :3] = lookup
    return row.reshape(-1)


# --- Perturbation in packets: `fractals.backends.cpu.packet_lists`

# Samples that are under way together. More make packets of more similar samples, and the lists grow
# out of the CPU's cache.
MAX_SAMPLES = 8192
# Columns and rows of samples that begin in one packet: neighbors take nearly the same skips.
BLOCK_SIZE = 4, 4
# Elements behind a list's end that a pack may write: more than the lanes of any pack.
PADDING = 256
# The lists. Of the first two, samples along the stages of linear approximations, one is read while
# the other is written. The next two hold samples that were rebased, in the same way. Then come
# samples that escaped, and samples too small for float64, which go on one by one.
STAGED, REBASED, ESCAPED, REMAINING, LISTS = 0, 2, 4, 5, 6
# Arrays of indices, each as long as a list, after those of the lists: the order of a sorted list,
# how many samples each octave has, the octave of each sample, and each sample's index in the tile.
ORDER, TALLY, OCTAVE, IN_TILE, TABLES = LISTS, LISTS + 1, LISTS + 2, LISTS + 3, LISTS + 4

# Rows of a list. After the tangents come the exponents of z and dz, if numbers have exponents, and
# the earlier z (x, y), which in the list REMAINING is m and an unused number.
ROW_X, ROW_Y, ROW_COUNT, ROW_TANGENTS = 0, 1, 2, 3


class Scratch(NamedTuple):
    """The memory of all lists, of `packet_sizes`."""

    numbers: Any  # the rows of the lists, then two rows of c; array of float64
    indices: Any  # the samples of the lists, then the other arrays of indices; array of int64
    cells: Any  # of the `fractals.threads.Queue` that the tile is for


def tangent_count(options):
    """Return how many numbers of dz a sample has."""
    return 0 if not options.derivative else 4 if options.pair else 2


def exponent_row(options):
    """Return the row behind the tangents: the exponent of z, if any."""
    return ROW_TANGENTS + tangent_count(options)


def earlier_row(options):
    """Return the row of the earlier z."""
    return exponent_row(options) + (2 if options.floatexp else 0)


def row_count(options):
    """Return how many rows a list has."""
    return earlier_row(options) + 2


def packet_sizes(rows):
    """Return the lengths of the two arrays of a `Scratch`."""
    room = MAX_SAMPLES + BLOCK_SIZE[0] * BLOCK_SIZE[1] + PADDING
    return (LISTS * rows + 2) * room, TABLES * room


def packet_layout():
    """Return the layout of the arguments of a program of packets."""
    plane, planes, whole = array("d", 2), array("d", 3), array("i", 2)
    places = array("q", 2)
    tables = plane, plane, places, plane, array("q"), plane, plane
    view = "d", "q", "d", "q", "q", "q", "?", *["q"] * 5
    return (
        tuple,
        (EscapeTile, whole, plane, plane, plane, plane, planes),
        (PerturbWork, planes, whole),
        (SampleGrid, plane, plane),
        (PerturbTables, *tables),
        (PerturbView, *view),
        "i",
        (Scratch, array("d"), array("q"), array("q")),
    )
