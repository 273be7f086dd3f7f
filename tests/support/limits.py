"""Smaller tiles than a device needs, so that a small picture has many."""

from dataclasses import replace

from fractals.backends import devices


def limit_tiles(monkeypatch, samples, kinds=tuple(devices.LIMITS)):
    """Have tiles of at most so many samples, on these kinds of devices."""
    changed = {kind: replace(devices.LIMITS[kind], samples_per_tile=samples) for kind in kinds}
    monkeypatch.setattr(devices, "LIMITS", {**devices.LIMITS, **changed})
