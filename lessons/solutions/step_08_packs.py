"""Exercise 8: stream compaction."""


def compact(values, keep):
    """Move the kept values to the front of the array, in their order, and return their number.

    `values` is an array of numbers, and `keep` an array of booleans. Work in place and in one pass:
    make no second array. What stands behind the kept values does not matter.
    """
    kept = 0
    for k in range(len(values)):
        if keep[k]:
            values[kept] = values[k]
            kept += 1
    return kept
