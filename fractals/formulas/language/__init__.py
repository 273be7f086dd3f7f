"""The language of a user's own formulas: parser, derivatives, code."""
