"""The meaning of the keys of scenes, and the words that they take, without importing the model.

Made by scripts/keywords.py from the model.
"""

KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "title": ("Title of the picture, written into its file.", ()),
    "author": ("Author of the picture, written into its file.", ()),
    "rights": ("Rights of the picture, written into its file: '© 2027 Ana Ferreira'.", ()),
    "formula": (
        "Formula: a name such as multibrot,power=4, an expression such as 'z**3 + c' or 'z**2 + "
        "k*c,k=0.3', or a Python file, which is run.",
        (),
    ),
    "julia": ("Draw the Julia set of c = X + iY.", ()),
    "center": ("Center of the view; decimals of any length.", ()),
    "width": ("Width of the view in the plane, or relative to the scene: 50%.", ()),
    "zoom": ("Zoom, counted from the formula's whole view, or relative to the scene: x10.", ()),
    "rotation": ("Turn the view counter-clockwise, in degrees.", ()),
    "mirror": ("Point the imaginary axis downwards.", ()),
    "stretch": ("Stretch the view by this factor along the stretch angle.", ()),
    "stretch_angle": ("Direction of the stretch, in degrees counter-clockwise from the right.", ()),
    "projection": (
        "Projection: plane, or exponential (x is the angle, y the logarithm of the radius).",
        ("plane", "exponential"),
    ),
    "size": (
        "Pixels: 1920x1080, 640x, 4k, 300%, A3, 100x70cm@300dpi; another shape keeps the width of "
        "the view, or its frame.",
        (),
    ),
    "supersampling": ("N x N samples per pixel, 1 to 16.", ()),
    "antialias": (
        "Pattern of the samples: grid, jittered or adaptive.",
        ("grid", "jittered", "adaptive"),
    ),
    "bits": ("Bits per channel: 8, or 16 (PNG or TIFF).", ("8", "16")),
    "gamut": (
        "Colors that the file can hold: srgb, p3 (Display P3), or adobe (those of Adobe RGB, for "
        "print).",
        ("srgb", "p3", "adobe"),
    ),
    "hdr": ("A PNG of high dynamic range: PQ, the gamut of BT.2020, and 16 bits.", ()),
    "dpi": ("Pixels per inch, for printing (PNG, JPEG, TIFF).", ()),
    "compression": (
        "PNG compression: fast, or small (10 to 40 % smaller files, much slower).",
        ("fast", "small"),
    ),
    "max_iterations": (
        "Maximum iterations per sample, such as 1e6: a count that reaches it means inside; auto: "
        "found for the view.",
        ("auto",),
    ),
    "escape_radius": ("Radius beyond which an orbit has escaped, 2 or more.", ()),
    "precision": (
        "Number type: auto (float64, or double-double where a formula without a perturbed step "
        "needs more digits; for flames and attractors float32 where that has enough), float64, "
        "double-double, or float32, which is for wide views only.",
        ("auto", "float64", "float32", "double-double"),
    ),
    "coloring": ("Coloring, such as smooth or stripe_average,density=7.", ()),
    "palette": ("Palette: a name, colors as in '#102030,#e07020', cmap:NAME, or FILE[#ENTRY].", ()),
    "transfer": (
        "Curve from values v to the palette: auto, linear, sqrt, cbrt, log (log2(1 + v)) or atan.",
        ("auto", "linear", "sqrt", "cbrt", "log", "atan"),
    ),
    "density": ("Turns of the palette per unit of the transferred value.", ()),
    "offset": ("Shift of the palette, in turns.", ()),
    "inside": ("Color of the points inside the set: '#rrggbb', or a name of CSS such as navy.", ()),
    "quality": (
        "Draft to look at, good for a screen, or best for print: how fine an image of any family "
        "is; a number: points of a scatter image, for each pixel.",
        ("draft", "good", "best"),
    ),
    "seed": ("Number that the random points of a scatter image follow.", ()),
    "steps": ("Points of each trajectory of a scatter image.", ()),
    "fuse": ("Steps of a trajectory before its points are drawn.", ()),
    "brightness": ("Brightness of a scatter image.", ()),
    "gamma": ("Gamma of a scatter image; auto: 2 for Buddhabrots, else 4.", ("auto",)),
    "gamma_threshold": ("Density below which gamma is straight.", ()),
    "vibrancy": ("1: gamma of the density; 0: gamma of each color channel.", ()),
    "highlight_power": ("How much colors that are too bright turn to white.", ()),
    "background": ("Color behind a scatter image, such as '#rrggbb' or navy.", ()),
    "estimator_radius": ("Pixels over which lone points are spread; 0: none.", ()),
    "estimator_minimum": ("Pixels over which all points are spread at least.", ()),
    "estimator_curve": ("How fast the spread falls with the number of points.", ()),
    "filter": ("Filter from buckets to the pixels of a scatter image.", ()),
    "filter_radius": ("Width of that filter, in pixels.", ()),
    "heights": (
        "Draw the scene as a landscape that is high near the set, by the smooth count or the "
        "distance estimate (distance); none: flat.",
        ("none", "smooth", "distance"),
    ),
    "rise": (
        "Height of the highest point of a relief, as a share of the picture's width; below 0 the "
        "set lies deep.",
        (),
    ),
    "tilt": (
        "Angle of the camera over a relief: 0 sees it from straight above, as a map; 60 looks far "
        "over it.",
        (),
    ),
    "position": ("Where the camera is: X,Y,Z; default: the solid's own place.", ()),
    "target": ("What the camera looks at: X,Y,Z; default: the solid's own.", ()),
    "up": ("The direction that is up for the camera: X,Y,Z; default: 0,0,1.", ()),
    "field": ("Angle that the camera sees, from bottom to top.", ()),
    "panorama": (
        "The view all around, 360 by 180 degrees, for a picture twice as wide as high.",
        (),
    ),
    "stereo": (
        "Distance between two eyes, as a share of the distance that is sharp; above 0 the picture "
        "is a pair: left and right side by side, of a panorama one above the other.",
        (),
    ),
    "eye": (
        "Left or right: that eye's picture alone, as large as size says; its pixels are those of "
        "the pair.",
        ("both", "left", "right"),
    ),
    "whole": (
        "Draw a part of a larger picture, with its pixels: WIDTHxHEIGHT+X+Y, the size of the whole"
        " and where the part's upper left corner is; size is that of the part.",
        (),
    ),
    "roll": ("Turn the camera clockwise, in degrees.", ()),
    "lens": ("Radius of the camera's lens, as a share of the distance that is sharp.", ()),
    "focus": (
        "Distance that is sharp, and to which haze is measured; default: that of the surface in "
        "view, a third of which is nearer than what is sharp.",
        (),
    ),
    "ray_step": (
        "How much of the distance to the surface a ray goes at once; less is slower, and passes no"
        " thin parts where that distance is guessed too long, as near the poles of a Mandelbulb.",
        (),
    ),
    "sun": ("Direction to the sun: X,Y,Z, or key (above and to the left of the camera).", ("key",)),
    "sun_color": ("Color of the sun's light.", ()),
    "sun_power": ("Brightness of the sun; that of the sky is about 0.5.", ()),
    "sun_size": ("Angle across the sun's disc: how soft shadows are.", ()),
    "sky": ("Colors of the sky at the horizon, at the zenith, and below the horizon.", ()),
    "haze": ("Haze before what is at the focus, or else at the middle distance.", ()),
    "gloss": ("How much the surface shines.", ()),
    "emission": (
        "Brightness of the light that the surface gives off by itself: in hollows, unless the "
        "scene says where.",
        (),
    ),
    "emission_color": ("Color of that light.", ()),
    "emission_at": (
        "Where the surface gives off light: 0 where it has the palette's first color, in hollows, "
        "to 1 where it has the last one.",
        (),
    ),
    "emission_width": ("How far from emission_at that light fades.", ()),
    "bounces": ("How many times light is reflected by the solid, 0 to 16.", ()),
    "samples": (
        "Paths of light for each pixel; auto: as many as a pixel of a solid needs, by quality; of "
        "a relief 16 for each of supersampling's samples.",
        ("auto",),
    ),
    "relight": (
        "A store of the light can be recolored with another sky, and another power and color of "
        "the sun and of the emission, and is six times as large; an EXR has more passes, and with "
        "a lens takes twice as long.",
        (),
    ),
    "exposure": (
        "Factor of all light; auto: 0.7 for solids and reliefs, 1 for other images.",
        ("auto",),
    ),
    "curve": (
        "What becomes of light brighter than white: clip cuts it off, filmic bends all light "
        "towards white as film does; auto: filmic for solids and reliefs, else clip.",
        ("auto", "clip", "filmic"),
    ),
    "bloom": ("Strength of the glow around what is bright; 0: none.", ()),
    "bloom_threshold": ("Light from which on it glows; white is 1.", ()),
    "bloom_radius": ("How far it glows, in heights of the picture.", ()),
    "vignette": ("How much darker the corners are, 0 to 1.", ()),
    "denoise": (
        "Remove the noise of a solid's light by Open Image Denoise, an optional extra; other "
        "machines may round otherwise.",
        (),
    ),
    "grain": ("Strength of film grain, 0 to 1, such as 0.03.", ()),
    "dither": (
        "Pixels of 8 bits of a solid or a relief are rounded up or down in turns, because a smooth"
        " sky would show bands.",
        (),
    ),
}
