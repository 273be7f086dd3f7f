"""Random numbers of a counter (Philox4x32-10), for every target.

A number depends on its counter and on the seed alone. So no order of threads, blocks or devices
changes a bit.
"""

from fractals.kernels.primitives import fma

MASK = 0xFFFFFFFF  # of a word of 32 bits


def philox(c0, c1, c2, c3, k0, k1):  # compiled with `target.jit`
    """Return four random numbers of 32 bits, of a counter and a key (Salmon et al., 2011).

    All are int64, and bits 32 to 63 of a product are the same in Python and in compiled code.

    >>> [hex(word) for word in philox(0, 0, 0, 0, 0, 0)]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    c0, c1, c2, c3 = c0 & MASK, c1 & MASK, c2 & MASK, c3 & MASK
    k0, k1 = k0 & MASK, k1 & MASK
    for _ in range(10):
        p, q = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1 = ((q >> 32) & MASK) ^ c1 ^ k0, q & MASK
        c2, c3 = ((p >> 32) & MASK) ^ c3 ^ k1, p & MASK
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return c0, c1, c2, c3


def make_random(target):
    """Return ``words(...)``, which is `philox`, ``unit(word)`` and ``start(word)``.

    They turn a word into a number from 0 to below 1, and from -1 to below 1.
    """
    real, small = target.real, target.int32
    part = real(2.0**-24)

    def unit(word):
        return real(small(word >> 8)) * part

    unit = target.jit(unit)

    def start(word):
        return fma(real(small(word >> 8)), part + part, -real(1))

    return target.jit(philox), unit, target.jit(start)


def make_take(target, count):
    """Return ``take(values, at)``, a tuple of `count` elements from a place on."""
    if count == 0:
        return target.jit(lambda values, at: ())
    half = count // 2
    part = make_take(target, half)  # so few functions are compiled

    def even(values, at):
        return (*part(values, at), *part(values, at + half))

    def odd(values, at):
        return (*part(values, at), *part(values, at + half), values[at + 2 * half])

    return target.jit(odd if count % 2 else even)
