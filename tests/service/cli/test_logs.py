"""What the processes of a server log, as `serve` is told to: lines of JSON, or of text."""

import json
import os
import resource
import signal
from pathlib import Path

import httpx

from service.api.head import Bounds
from tests.service.cli.processes import serving, until


def test_every_process_logs_json_where_it_is_told_to(tmp_path: Path) -> None:
    with serving(tmp_path, "--log-format", "json", "--log-level", "info") as server:
        httpx.get(f"{server.url}/v1/games", headers={"X-Request-Id": "mine"})
        os.kill(server.part(" react "), signal.SIGKILL)
        until(lambda: "is started again" in server.complaints())
        server.end(signal.SIGTERM)
        lines = [json.loads(line) for line in server.complaints().splitlines()]
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in lines)
    (mine,) = [line for line in lines if line.get("request") == "mine"]
    assert (mine["method"], mine["route"], mine["status"]) == ("GET", "/v1/games", 200)
    (again,) = [line for line in lines if "is started again" in line["message"]]
    assert again["logger"] == "service"


def test_requests_are_not_logged_unless_asked_for(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        httpx.get(f"{server.url}/v1/games")
        server.end(signal.SIGTERM)
        assert server.complaints() == ""


def test_a_worker_may_have_as_many_connections_as_it_takes(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        limits = Path(f"/proc/{server.part(' api ')}/limits").read_text(encoding="ascii")
    (line,) = [line for line in limits.splitlines() if line.startswith("Max open files")]
    soft, hard = (int(limit.replace("unlimited", "0")) or resource.RLIM_INFINITY for limit in line.split()[3:5])
    assert soft == hard or soft > Bounds().connections
