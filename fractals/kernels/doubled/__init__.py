"""Double-double: numbers of two float64, made of the text of formulas for every target."""
