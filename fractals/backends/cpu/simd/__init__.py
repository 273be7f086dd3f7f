"""SIMD vectors as one number type in compiled code."""
