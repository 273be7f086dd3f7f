"""The built-in colorings, one file each: ``make() -> Coloring``."""
