"""Smaller tiles than a device needs, so that a small picture has many."""

from dataclasses import replace

from fractals.backends import devices


def limit_tiles(monkeypatch, samples, kinds=tuple(devices.LIMITS)):
    """Have tiles of at most so many samples, on these kinds of devices."""
    for kind in kinds:
        changed = replace(devices.LIMITS[kind], samples_per_tile=samples)
        monkeypatch.setitem(devices.LIMITS, kind, changed)
