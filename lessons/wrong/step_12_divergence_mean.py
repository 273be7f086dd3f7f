# The mean of the warps' shares: a warp of 10 steps weighs as much as one of 1000.
def lanes_busy(counts, block):
    height, width = counts.shape
    across, down = block
    shares = []
    for top in range(0, height, down):
        for left in range(0, width, across):
            threads = [
                counts[y, x] if y < height and x < width else 0
                for y in range(top, top + down)
                for x in range(left, left + across)
            ]
            for warp in range(0, len(threads), 32):
                lanes = threads[warp : warp + 32]
                if max(lanes):
                    shares.append(sum(lanes) / (32 * max(lanes)))
    return sum(shares) / len(shares)
