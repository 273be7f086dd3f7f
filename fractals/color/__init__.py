"""Palettes, color spaces, gradients and colorings."""
