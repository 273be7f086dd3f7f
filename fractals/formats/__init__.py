"""Files of other programs, one file a format: ``make() -> Format``."""
