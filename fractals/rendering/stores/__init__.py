"""Computes raw numbers into stores: samples tile by tile, and sums that go on."""
