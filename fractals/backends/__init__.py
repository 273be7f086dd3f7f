"""Backends compile and run kernels. Only this package imports Numba."""
