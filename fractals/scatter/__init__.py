"""Scatter images: planned, played, kept and shown."""
