"""Solution F: the slowest ray of each warp counts for all of them, in each launch."""


def thread_steps(needs, most, warp):
    total = 0
    while needs:
        for first in range(0, len(needs), warp):
            total += warp * min(most, max(needs[first : first + warp]))
        needs = [need - most for need in needs if need > most]
    return total
