"""Solids, fractals in space: a function each returns a `Solid`, in files by what a step does."""

# The files that hold several, and the names.
FILES = {
    "composed": ("solid_expression",),
    "hybrids": ("solid_hybrid",),
    "groups": ("kleinian", "quasi_fuchsian"),
    "mixed": ("boxbulb", "kalibox", "menger_ball"),
    "boxes": ("amazing_surf", "mandelbox", "pseudo_kleinian"),
    "kaleidoscopes": ("icosahedral", "menger", "octahedral", "sierpinski"),
    "powers": (
        *("bicomplex", "bristorbrot", "burning_bulb"),
        *("juliabulb", "mandelbulb", "quaternion"),
    ),
}
