"""Measurements, each as a ratio against a floor in the same run: `python -m tests.bench`."""
