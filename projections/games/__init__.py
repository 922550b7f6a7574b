"""The state, view and redaction of each game, one module a game."""
