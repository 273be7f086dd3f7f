"""Deep zoom: reference orbits and their cache, Newton's method, and nuclei."""
