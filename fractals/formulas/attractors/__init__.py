"""Attractors, one file each: ``make(**parameters) -> Attractor``; maps of the plane, and flows."""
