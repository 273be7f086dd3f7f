"""Solids: how their pictures are planned, traced and refined."""
