"""Solution 10: a * x + y on the GPU."""

from gpu import cuda


@cuda.jit
def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


def run(a, x, y):
    out = cuda.device_array_like(x)
    blocks = (x.size + 127) // 128
    saxpy[blocks, 128](a, cuda.to_device(x), cuda.to_device(y), out)
    return out.copy_to_host()
