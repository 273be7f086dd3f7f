# The square of |z| is compared with 2, and not with 4.

"""Exercise 4: remove the square root."""


def escape(c, limit):
    """Return what `escape` of step 1 returns, without a square root: neither abs nor ** 0.5.

    The check compiles this function and reads its machine code.
    """
    z = 0j
    for n in range(limit):
        if z.real * z.real + z.imag * z.imag > 2:
            return n
        z = z * z + c
    return limit
