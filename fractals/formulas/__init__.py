"""Formulas: a function or a row each, in files by what a step does."""

# The files that hold several, and the names.
FILES: dict[str, tuple[str, ...]] = {
    "absolute_values": (
        *("buffalo", "burning_ship", "celtic", "celtic_heart"),
        *("heart", "perpendicular_burning_ship", "shark_fin"),
    ),
    "memory": ("phoenix", "spider"),
    "own": ("expression", "program"),
    "powers": ("mandelbrot", "multibrot", "simonobrot", "tricorn"),
    "sequences": ("hybrid", "lyapunov"),
    "texts": (
        *("collatz", "exponential", "halley", "logistic", "magnet1"),
        *("magnet2", "network", "newton", "nova", "sine"),
    ),
}
