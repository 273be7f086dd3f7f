"""What to draw: scenes, views, layers, and the exact geometry of a view."""
