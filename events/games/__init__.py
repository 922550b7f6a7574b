"""The events of each game, one module a game."""
