"""Halley's method for roots: z -> z - relaxation 2 f f' / (2 f'² - f f''), for f as in `newton`."""

from fractals.formulas.newton import composed, function_of, halley_step, relaxed


def make(power=3, relaxation=1.0, polynomial="", start=""):
    function = function_of(power, polynomial)
    return composed(
        "halley",
        f"Halley's method for {polynomial or f'z**{power} - 1'}",
        relaxed(halley_step(function), relaxation),
        polynomial,
        function,
        start,
        {"power": power, "relaxation": relaxation, "polynomial": polynomial, "start": start},
    )
