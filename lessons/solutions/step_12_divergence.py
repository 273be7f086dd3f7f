"""Solution 12: lanes busy, block by block and warp by warp."""


def lanes_busy(counts, block):
    height, width = counts.shape
    across, down = block
    taken = issued = 0
    for top in range(0, height, down):
        for left in range(0, width, across):
            threads = [
                counts[y, x] if y < height and x < width else 0
                for y in range(top, top + down)
                for x in range(left, left + across)
            ]
            for warp in range(0, len(threads), 32):
                taken += sum(threads[warp : warp + 32])
                issued += max(threads[warp : warp + 32])
    return taken / (32 * issued)
