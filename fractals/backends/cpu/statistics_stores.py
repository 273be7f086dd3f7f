"""How direct iteration stores orbit statistics: from packs, and for samples that are replayed."""

from fractals.backends.cpu.simd.memory import masked_store, store_rows
from fractals.kernels.primitives import number, select


def make_statistics_stores(jit, own, planes):
    """Return ``(put, copy, keep)``, which store orbit statistics.

    The `planes` statistics follow `own` other numbers in a state. In an array of statistics the
    planes are ``size`` elements apart. ``put`` stores those of a pack in that array, ``keep`` in
    the scratch `numbers`, and ``copy`` copies them from there.
    """

    def put(arrays, k, size, state, gone, valid):
        zero = number(0, state[0])
        masked_store(arrays, k, valid, select(gone, state[own], zero))

    def copy(arrays, k, size, numbers, row, t, room):
        for plane in range(planes):
            arrays[plane * size + k] = numbers[row + plane * room + t]

    def keep(numbers, row, room, i, state):
        store_rows(numbers, row + i, room, state[own:])

    put = jit(put)
    for plane in range(1, planes):
        put = _put_more(jit, put, own, plane)
    return put, jit(copy), jit(keep)


def _put_more(jit, put_others, own, plane):
    place = own + plane

    def put(arrays, k, size, state, gone, valid):
        put_others(arrays, k, size, state, gone, valid)
        zero = number(0, state[0])
        masked_store(arrays, plane * size + k, valid, select(gone, state[place], zero))

    return jit(put)
