"""The meaning of the keys of scenes, and the words that they take, without importing the model.

Made by scripts/keywords.py from the model.
"""

KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "rotation": ("Turn the view counter-clockwise, in degrees.", ()),
    "mirror": ("Point the imaginary axis downwards.", ()),
    "stretch": ("Stretch the view by this factor along the stretch angle.", ()),
    "stretch_angle": ("Direction of the stretch, in degrees counter-clockwise from the right.", ()),
    "projection": (
        "Projection: plane, or exponential (x is the angle, y the logarithm of the radius).",
        ("plane", "exponential"),
    ),
    "supersampling": ("N x N samples per pixel, 1 to 16.", ()),
    "antialias": (
        "Pattern of the samples: grid, jittered or adaptive.",
        ("grid", "jittered", "adaptive"),
    ),
    "bits": ("Bits per channel: 8, or 16 (PNG or TIFF).", ("8", "16")),
    "dpi": ("Pixels per inch, for printing (PNG, JPEG, TIFF).", ()),
    "compression": (
        "PNG compression: fast, or small (10 to 30 % smaller files, much slower).",
        ("fast", "small"),
    ),
    "max_iterations": ("Most steps of an orbit; auto: found for the view.", ("auto",)),
    "escape_radius": ("Radius beyond which an orbit has escaped, 2 or more.", ()),
    "precision": (
        "Number type: auto (float64), float64 or float32, which is for wide views only.",
        ("auto", "float64", "float32"),
    ),
    "transfer": (
        "Curve from values v to the palette: auto, linear, sqrt, cbrt, log (log2(1 + v)) or atan.",
        ("auto", "linear", "sqrt", "cbrt", "log", "atan"),
    ),
    "density": ("Turns of the palette per unit of the transferred value.", ()),
    "offset": ("Shift of the palette, in turns.", ()),
    "mask": (
        "Samples to draw; auto: those for which the coloring is made.",
        ("auto", "escaped", "inside", "all"),
    ),
    "range": ("Values to draw; others are transparent.", ()),
    "inside": ("Color of the points inside the set: '#rrggbb', or a name of CSS such as navy.", ()),
}
