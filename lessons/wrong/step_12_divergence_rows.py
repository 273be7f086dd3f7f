# A warp is taken to be 32 pixels of a row, whatever the block.
def lanes_busy(counts, block):
    height, width = counts.shape
    taken = issued = 0
    for y in range(height):
        for x in range(0, width, 32):
            taken += counts[y, x : x + 32].sum()
            issued += counts[y, x : x + 32].max()
    return taken / (32 * issued)
