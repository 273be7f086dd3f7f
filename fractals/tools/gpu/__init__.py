"""Instruments that study GPU kernels on a machine without a GPU."""
