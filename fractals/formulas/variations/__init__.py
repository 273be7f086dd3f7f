"""The variations of flames, one file each: ``make() -> Variation``."""
