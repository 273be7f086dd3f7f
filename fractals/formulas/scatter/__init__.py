"""The formulas of scatter images, one file each: ``make(**parameters) -> Flame``."""
