"""What events add up to, and who may see it: pure folds, views and redactions."""
