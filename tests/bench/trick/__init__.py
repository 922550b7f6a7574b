"""Trick, the game that is measured beside peers: theirs plays by the same rules (tests/bench/peers/)."""
