"""The work of the commands that `python -m service` and `evenfold` offer, a module each."""
