"""Step 13: streams, pinned memory and overlap, and fewer bytes over the bus by fusion."""

import numpy as np
from gpu import cuda, device, on_gpu
from ladder import median_seconds, report
from step_11_mandelbrot_gpu import escape

WIDTH, HEIGHT, TILES, BLOCKS = (8192, 8192, 16, (64, 32)) if on_gpu else (192, 128, 4, (4, 4))


# [fused]
@cuda.jit
def colors(top, pixel, image):  # iterates and colors: 3 bytes a pixel go back, not 4 or 20
    first_column, first_row = cuda.grid(2)
    columns, rows = cuda.gridsize(2)
    for row in range(first_row, image.shape[0], rows):
        for column in range(first_column, image.shape[1], columns):
            count = escape(column * pixel - 2.0, top - row * pixel, 100)
            image[row, column, 0] = image[row, column, 1] = 2 * count
            image[row, column, 2] = 55 + 2 * count
    # [end]


# [streams]
def draw(streams):
    rows, pixel = HEIGHT // TILES, 3.0 / WIDTH
    picture = cuda.pinned_array((HEIGHT, WIDTH, 3), np.uint8)  # stays where the bus can reach it
    lanes = [(cuda.stream(), cuda.device_array((rows, WIDTH, 3), np.uint8)) for _ in range(streams)]
    for tile in range(TILES):
        stream, strip = lanes[tile % streams]  # a stream does its work in order
        colors[BLOCKS, (8, 4), stream](1.0 - tile * rows * pixel, pixel, strip)
        strip.copy_to_host(picture[tile * rows : (tile + 1) * rows], stream)  # returns at once
    cuda.synchronize()
    return picture
    # [end]


# [timeline]
def timeline(tiles, streams, compute, copy):
    computed = copied = 0  # when the GPU's cores are free, and when the bus is
    spans = []
    for tile in range(tiles):
        ready = spans[tile - streams][3] if tile >= streams else 0  # the stream's copy before
        begin = max(computed, ready)
        computed = begin + compute
        send = max(computed, copied)
        copied = send + copy
        spans.append((begin, computed, send, copied))
    return spans
    # [end]


if __name__ == "__main__":
    for streams in 1, 2:
        compute, copy = [" "] * 21, [" "] * 21
        for tile, (begin, computed, send, copied) in enumerate(timeline(4, streams, 3, 2)):
            compute[begin:computed], copy[send:copied] = str(tile) * 3, str(tile) * 2
        print(f"{streams} streams: compute {''.join(compute)}\n{'copy':>18} {''.join(copy)}")
    assert np.array_equal(draw(1), draw(2))
    seconds = median_seconds(lambda: draw(2), 3)
    report(13, seconds, WIDTH * HEIGHT, "pixels/s", device, draw(2))
