"""Colorings: a function each, in files by what they look at."""

# The files that hold several, and the names.
FILES = {
    "averages": ("curvature_average", "lyapunov", "stripe_average", "triangle_average"),
    "counts": ("count", "histogram", "rank", "smooth", "speed"),
    "cycles": ("atom_domains", "interior_distance", "multiplier", "period"),
    "final_points": (
        *("biomorph", "count_plus", "decomposition", "exterior_grid"),
        *("field_lines", "final_angle", "last_point", "last_wave", "log_ratio", "root"),
        *("distance", "distance_line", "slopes"),
    ),
    "traps": ("epsilon_cross", "last_visit", "orbit_trap", "pickover_stalks", "picture_trap"),
}
