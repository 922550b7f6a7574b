"""Audit: what lets a stranger trust a table without trusting us.

signing.py      the service's Ed25519 key, and what exactly is signed
record.py       the record of an ended table, `record/1`, as bytes
checking.py     whether a record is what the rules, the seed and the key say it must be
agreeing.py     whether evidence is good by itself, and what several records or tree heads come to beside one another
"""
