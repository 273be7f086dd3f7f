"""From a scene to pixels: plan, tiles, raw numbers, picture. Read render.py first."""
