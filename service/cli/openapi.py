"""The OpenAPI document, written from the routes without a server or a store."""

import sys
from collections.abc import Sequence
from pathlib import Path

from service.api.document import written
from service.app import endpoints
from service.cli.games import found
from service.cli.sentences import Failed


def openapi(output: Path | None, modules: Sequence[str]) -> None:
    """Write the document to a file, else to the standard output; raise Failed."""
    known = found(modules)
    document = written(endpoints(known), known)
    if output is None:
        sys.stdout.buffer.write(document)
        return
    try:
        output.write_bytes(document)
    except OSError as error:
        raise Failed(f"{output} can't be written: {error.strerror}") from None
