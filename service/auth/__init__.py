"""Accounts, tokens and the keys of the service."""
