"""Step G: one kernel for GPUs of every vendor: CUDA by Numba, and OpenCL C by a translator."""

import numpy as np
from gpu import cuda, device, on_gpu
from ladder import median_seconds, report
from numba import njit

from fractals.backends import opencl
from fractals.backends.opencl.translate import source
from fractals.backends.opencl.values import ArrayType

SIZE, LIMIT = (1536, 1024) if on_gpu else (48, 32), 20  # columns, rows; iterations
VIEW = -2.0, 1.0, 3.0 / SIZE[0]  # left, top, pixel


# [escape]
def escape_count(cx, cy, limit):
    x = y = 0.0
    n = 0
    while n < limit and x * x + y * y <= 4.0:
        x, y = x * x - y * y + cx, 2.0 * x * y + cy
        n += 1
    return n


def make_body(target, escape):  # the share of the thread (i, j): each (di, dj)-th pixel
    def body(i, j, di, dj, counts, left, top, pixel, limit):
        for row in range(j, counts.shape[0], dj):
            for column in range(i, counts.shape[1], di):
                counts[row, column] = escape(left + column * pixel, top - row * pixel, limit)

    return body


# [end]
# [cuda]
share = cuda.jit(device=True)(make_body(None, njit(escape_count)))


@cuda.jit
def kernel(counts, left, top, pixel, limit):
    i, j = cuda.grid(2)
    di, dj = cuda.gridsize(2)
    share(i, j, di, dj, counts, left, top, pixel, limit)


def by_cuda():
    counts = cuda.device_array(SIZE[::-1], np.int32)
    grid = (-(-SIZE[0] // 16), -(-SIZE[1] // 8)) if on_gpu else (1, 1)  # blocks
    kernel[grid, (16, 8)](counts, *VIEW, LIMIT)
    return counts.copy_to_host()


# [end]
def translated():  # the same two functions as OpenCL C, for arguments of these types
    arguments = ArrayType("int", 2), "double", "double", "double", "int"
    return source(make_body, (escape_count,), arguments, "float64")


def by_opencl(made):
    import pyopencl as cl

    context = cl.Context([opencl.handle_of(0)])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, made.text).build()  # the driver compiles the text
    counts = np.zeros(SIZE[::-1], np.int32)
    memory = cl.Buffer(context, cl.mem_flags.READ_WRITE, counts.nbytes)
    begin, rows, columns = map(np.int64, (0, *counts.shape))
    numbers = *map(np.float64, VIEW), np.int32(LIMIT)
    run = cl.Kernel(program, made.name)
    run(queue, SIZE, None, memory, begin, rows, columns, *numbers)  # SIZE: work-items
    cl.enqueue_copy(queue, counts, memory)
    return counts


if __name__ == "__main__":
    made, counts = translated(), by_cuda()
    print(made.text)
    if reason := opencl.found()[1]:
        print(f"OpenCL did not draw: {reason}")
    else:
        other = by_opencl(made)
        name = opencl.found()[0][0].name
        print(f"{name}: {np.count_nonzero(other != counts)} of {counts.size} counts differ")
    report("g", median_seconds(by_cuda, 3), int(counts.sum()), device=device)
