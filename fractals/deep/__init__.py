"""What deep views need beyond one float a number: reference orbits, tables that skip, nuclei."""
