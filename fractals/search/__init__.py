"""Searches: nuclei of minibrots, periods and Misiurewicz points, by Newton's method."""
