"""What `serve --durability` refuses before anything starts."""

from pathlib import Path

from tests.service.cli.processes import Called
from tests.stores import BINARIES, serving


def test_the_embedded_store_is_refused_where_a_replica_is_demanded(called: Called, tmp_path: Path) -> None:
    sentence = called("serve", "--data", str(tmp_path), "--port", "0", "--durability", "replicated").refusal
    assert "The embedded store has no replicas" in sentence
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_syncs_later_is_refused_where_each_command_must_be_synced(called: Called, tmp_path: Path) -> None:
    with serving(BINARIES["valkey"], tmp_path, "--appendonly", "yes", "--appendfsync", "everysec") as url:
        keys = ("--keys", str(tmp_path / "keys"))
        sentence = called("serve", "--redis", url, *keys, "--port", "0", "--durability", "fsync").refusal
    assert "needs appendonly yes and appendfsync always for --durability fsync." in sentence
