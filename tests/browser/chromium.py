"""Chromium without a window, and a page for it of an origin of its own, with the client that we show to everybody."""

import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from tests.tree import ROOT

CHROMIUM: Final = shutil.which("chromium")
DRIVER: Final = shutil.which("chromedriver")


def _fenced(page: str, language: str) -> list[str]:
    text = (ROOT / "service/web/pages" / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


(CLIENT,) = _fenced("browsers.md", "js")
"""The client that the page shows, as it stands there."""

EXAMPLES: Final = _fenced("browsers.md", "js example")
"""What it does with the client."""

(LISTING,) = _fenced("lobby.md", "js")
"""What the page on the lobby does with it."""

PATIENCE_S: Final = 30
"""How long a script of a page may take."""

# What keeps it from asking anybody but us; and no sandbox, for that takes rights which a container may not have.
_FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

_HERE: Final = Path(__file__).parent


class _Pages(BaseHTTPRequestHandler):
    """Hands out the page of the tests, and its scripts."""

    def do_GET(self) -> None:
        """Answer with a file."""
        kind, text = {
            "/": ("text/html", (_HERE / "page.html").read_text(encoding="utf-8")),
            "/evenfold.js": ("text/javascript", CLIENT),
            "/page.js": ("text/javascript", (_HERE / "page.js").read_text(encoding="utf-8")),
        }.get(self.path.partition("?")[0], ("", ""))
        self.send_response(HTTPStatus.OK if text else HTTPStatus.NO_CONTENT)
        if text:
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the name of the standard library
        """Say nothing."""


@contextmanager
def pages() -> Iterator[str]:
    """Serve the page for a block; yield its origin."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://localhost:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Browser:
    """A browser with one page in it."""

    def __init__(self, chrome: Chrome, page: str) -> None:
        self._chrome = chrome
        self.page = page

    def open(self, api: str) -> None:
        """Load the page anew, for the service at this address."""
        self._chrome.get(f"{self.page}/?{api}")
        self.complaints()

    def run(self, script: str, *arguments: object) -> Any:  # noqa: ANN401 any JSON
        """Run the body of an async function in the page; return what it returns, fail where it throws."""
        wrapped = """
            const done = arguments[arguments.length - 1];
            (async (...given) => {%s})(...arguments).then(
                (value) => done({ value: value ?? null }),
                (error) => done({ error: `${error.stack ?? error} ${JSON.stringify(error.problem ?? null)}` }),
            );
        """
        came: dict[str, Any] = self._chrome.execute_async_script(wrapped % script, *arguments)
        assert "error" not in came, came["error"]
        return came["value"]

    def complaints(self) -> list[str]:
        """Return what the console has shown as errors and warnings since it was last asked."""
        told = self._chrome.get_log("browser")  # type: ignore[no-untyped-call] # selenium has not annotated it
        return [entry["message"] for entry in told if entry["level"] in {"SEVERE", "WARNING"}]


@contextmanager
def browsing(profile: Path) -> Iterator[Browser]:
    """Give a browser that has never been used, for a block."""
    options = Options()
    options.binary_location = str(CHROMIUM)
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with pages() as page:
        chrome = Chrome(options, Service(str(DRIVER)))
        try:
            chrome.set_script_timeout(PATIENCE_S)
            yield Browser(chrome, page)
        finally:
            chrome.quit()
