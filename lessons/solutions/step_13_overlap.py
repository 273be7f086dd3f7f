"""Solution 13: a time for the GPU, one for the bus, and one for each stream."""


def done(compute, copy, streams):
    computed = copied = 0
    free = [0] * streams
    for tile, (work, sending) in enumerate(zip(compute, copy, strict=True)):
        computed = max(computed, free[tile % streams]) + work
        copied = free[tile % streams] = max(computed, copied) + sending
    return copied
