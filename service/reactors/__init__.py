"""Reactors: parts of the service that follow the feeds and act on what they find.

A feed's entry is a hint (stream, version). Whoever gets it looks at the stream, from what is known of it already, and
acts on what is there: so neither order nor repeats matter, and two processes that follow the same feeds do no harm.
What a reactor sends goes through the same door as anybody's command.
"""
