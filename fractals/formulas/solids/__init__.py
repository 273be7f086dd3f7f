"""Solids, one file each: ``make(**parameters) -> Solid``; fractals in space."""
