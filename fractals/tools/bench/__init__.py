"""Devices timed on the same work: measurements, reports and charts."""
