"""Stores on disk: folders of raw numbers that can be resumed, and the parts that machines add."""
