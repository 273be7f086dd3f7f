"""Sums of whole numbers: kept in stores, continued, and added up by many machines."""
