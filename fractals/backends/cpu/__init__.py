"""The CPU backend: Numba's compiler and SIMD vectors."""
