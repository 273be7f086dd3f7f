"""The CUDA backend: GPUs, and Numba's simulator where there is none."""
