"""What decides and serves: rules, log, API and command line. All I/O is here."""
