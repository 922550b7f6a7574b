"""Golden logs: matches kept for ever as they were stored, so that no change may read or decide them otherwise."""
