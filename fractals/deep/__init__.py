"""Deep zoom: reference orbits and their cache."""
