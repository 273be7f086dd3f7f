"""Deep zoom: reference orbits, the approximations that skip along them, and places to go."""
