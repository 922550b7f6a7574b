"""How the application is put on a socket: the one configuration of uvicorn, wherever it is served."""

import uvicorn
from litestar import Litestar

from service.api.connection import Connection


def configured(app: Litestar, protocol: type[Connection] = Connection, *, grace_s: int | None = None) -> uvicorn.Config:
    """Return the configuration that serves this application, by connections of this class.

    `grace_s` is how long what is under way may take when the server is told to end; None has no limit.
    """
    return uvicorn.Config(
        app,
        loop="uvloop",
        http=protocol,
        ws="none",
        lifespan="on",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # service/api/forwarded.py reads them, by the word of those who are trusted.
        log_config=None,
        timeout_graceful_shutdown=grace_s,
    )
