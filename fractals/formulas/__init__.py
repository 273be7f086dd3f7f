"""The built-in formulas, one file each: ``make(**parameters) -> Formula``."""
