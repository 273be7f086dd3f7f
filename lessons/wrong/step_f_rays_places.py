# Rays that have ended keep their places in the list, so nothing is packed.
def thread_steps(needs, most, warp):
    total = 0
    while any(need > 0 for need in needs):
        for first in range(0, len(needs), warp):
            total += warp * max(0, min(most, max(needs[first : first + warp])))
        needs = [need - most for need in needs]
    return total
