"""The HTTP API: routes, and how requests and answers are read and written."""
