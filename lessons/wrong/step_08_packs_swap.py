# Values of the end are moved into the gaps, which changes the order.

"""Exercise 8: stream compaction."""


def compact(values, keep):
    """Move the kept values to the front of the array, in their order, and return their number.

    `values` is an array of numbers, and `keep` an array of booleans. Work in place and in one pass:
    make no second array. What stands behind the kept values does not matter.
    """
    kept = len(values)
    flags = list(keep)
    k = 0
    while k < kept:
        if flags[k]:
            k += 1
        else:
            kept -= 1
            values[k], flags[k] = values[kept], flags[kept]
    return kept
