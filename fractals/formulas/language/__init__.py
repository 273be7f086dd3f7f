"""The language of a user's own formulas: its syntax, derivatives and code."""
