"""`evenfold erase`: an account erased beside the server."""

import httpx

from tests.service.cli.processes import Called, Server, person, until


def test_an_account_is_erased_beside_a_server_that_runs(called: Called, server: Server) -> None:
    with person(server.url) as ada, person(server.url) as bob:
        path = ada.post("/v1/chinkway/tables").headers["Location"]
        ada.post(f"{path}/seats")
        refused = called("erase", ada.id, "--data", str(server.data)).refusal
        assert "can't be undone" in refused
        assert ada.get("/v1/me").status_code == 200
        erased = called("erase", ada.id, "--yes", "--data", str(server.data))
        assert (erased.code, erased.printed) == (0, "")
        assert f"Ada ({ada.id}) is erased" in erased.told
        assert bob.get(path).json()["outcome"] == "abandoned"
        # Each worker may go on trusting the token for a second.
        until(lambda: httpx.get(f"{server.url}/v1/me", headers=ada.http.headers).status_code == 401)
        assert "archive" not in erased.told
        again = called("erase", ada.id, "--yes", "--data", str(server.data))
        assert (again.code, f"Account {ada.id} is erased" in again.told) == (0, True)


def test_an_account_that_never_was_is_not_erased(called: Called, server: Server) -> None:
    for account in ("0" * 26, "ada"):
        told = called("erase", account, "--yes", "--data", str(server.data)).refusal
        assert f"The store has no account {account}" in told
