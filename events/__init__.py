"""What can happen: the events of tables, tournaments and games, as they stand in the log."""
