"""Files: pictures, raw numbers, scenes and palettes, of this program and of others."""
