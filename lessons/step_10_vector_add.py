"""Step 10: add two vectors on a GPU, and time the kernel wrongly in four ways, then rightly."""

from time import perf_counter

import numpy as np
from gpu import cuda, device, on_gpu
from ladder import median_seconds, report

N = 10_000_000 if on_gpu else 1000  # the last block is not full
THREADS = 128  # in a block; 1024 at most


# [kernel]
@cuda.jit
def add(a, b, out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x  # short: cuda.grid(1)
    if i < out.size:  # the guard
        out[i] = a[i] + b[i]

    # [end]


# [host]
def add_vectors(a, b):
    a_on_gpu = cuda.to_device(a)  # host memory to device memory
    b_on_gpu = cuda.to_device(b)
    out_on_gpu = cuda.device_array_like(a)  # allocated on the device, uninitialised
    blocks = (a.size + THREADS - 1) // THREADS  # rounded up
    add[blocks, THREADS](a_on_gpu, b_on_gpu, out_on_gpu)
    return out_on_gpu.copy_to_host()  # waits for the kernel

    # [end]


# [timing]
def time_five_ways(a, b):
    launch = add[(a.size + THREADS - 1) // THREADS, THREADS]
    arrays = cuda.to_device(a), cuda.to_device(b), cuda.device_array_like(a)

    def seconds(work, *then):
        start = perf_counter()
        work()
        [each() for each in then]
        return perf_counter() - start

    yield "1. with the compiler", seconds(lambda: launch(*arrays), cuda.synchronize)
    yield "2. without waiting", seconds(lambda: launch(*arrays))
    yield "3. with the copies", seconds(lambda: launch(a, b, np.empty_like(a)), cuda.synchronize)
    yield "4. one run", seconds(lambda: launch(*arrays), cuda.synchronize)
    yield "rightly", median_seconds(lambda: (launch(*arrays), cuda.synchronize()), runs=7)

    # [end]


if __name__ == "__main__":
    a, b = np.arange(N, dtype=np.float32), np.full(N, 0.5, np.float32)
    for how, seconds in time_five_ways(a, b):
        print(f"{how:22}{1e3 * seconds:10.3f} ms")
    assert np.array_equal(add_vectors(a, b), a + b)  # last: the first launch above must compile
    report(10, seconds, N, "additions/s", device)
