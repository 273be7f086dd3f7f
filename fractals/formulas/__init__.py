"""Formulas: a function or a row each, in files by what a step does."""

# The files that hold several, and the names; attractors and scatter have tables of their own.
FILES: dict[str, tuple[str, ...]] = {
    "absolute_values": (
        *("buffalo", "burning_ship", "celtic", "celtic_heart"),
        *("heart", "perpendicular_burning_ship", "shark_fin"),
    ),
    "attractors": (),
    "memory": ("phoenix", "spider"),
    "own": ("expression", "program"),
    "powers": ("mandelbrot", "multibrot", "simonobrot", "tricorn"),
    "scatter": (),
    "sequences": ("hybrid", "lyapunov"),
    "texts": (
        *("collatz", "exponential", "halley", "logistic", "magnet1"),
        *("magnet2", "network", "newton", "nova", "sine"),
    ),
}
