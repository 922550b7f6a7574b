"""A client that was generated from the document plays a match: the Python of openapi/README.md, as it stands there.

`make client` runs it in an environment of its own, for the generator wants other versions than the service; it is given
the `evenfold` command to serve with.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OPENAPI = Path(__file__).parents[2] / "openapi"
ADDRESS = "http://127.0.0.1:8000"


def main(evenfold: str) -> None:
    """Generate the client, serve, and let the client play."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "evenfold_client"
        config = ["--config", str(OPENAPI / "python-client.yaml"), "--meta", "none"]
        source = ["--path", str(OPENAPI / "openapi.json"), "--output-path", str(made)]
        generator = [str(Path(sys.executable).with_name("openapi-python-client")), "generate"]
        subprocess.run([*generator, *source, *config, "--fail-on-warning"], check=True, stdout=subprocess.DEVNULL)
        with serving(evenfold, Path(folder) / "data") as url:
            code = shown().replace(ADDRESS, url)
            environment = {**os.environ, "PYTHONPATH": folder}
            subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=300)


def shown() -> str:
    """Return the Python of the page; it prints how the match ended."""
    (code,) = re.findall(r"```python\n(.*?)```", (OPENAPI / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert code.count(ADDRESS) == 1
    text: str = code
    return text


@contextmanager
def serving(evenfold: str, data: Path) -> Iterator[str]:
    """Serve from an empty folder on a free port; yield the address."""
    arguments = [evenfold, "serve", "--port", "0", "--data", str(data), "--bot-pause", "0"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found, "it does not serve"
            yield found[0]
        finally:
            process.terminate()


if __name__ == "__main__":
    main(sys.argv[1])
