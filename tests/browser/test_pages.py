"""A page of another origin, in a real browser: what it asks and plays with what browsers have themselves."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from tests.browser.chromium import CHROMIUM, DRIVER, EXAMPLES, Browser
from tests.browser.conftest import onlooker
from tests.served import Person, served
from tests.service.cli.processes import Server


def test_ci_has_a_browser() -> None:
    there = CHROMIUM is not None and DRIVER is not None
    assert there or os.environ.get("CI") != "true", "CI needs a browser: apt-get install chromium chromium-driver"


# --- Asking ---


def test_a_page_reads_what_is_answered_with_its_headers(browser: Browser) -> None:
    said = browser.run(
        """
        const { path } = await sit("chinkway", {});
        const headers = { Authorization: `Bearer ${evenfold.token}` };
        const view = await fetch(api + path, { headers });
        const tag = view.headers.get("ETag");
        const same = await fetch(api + path, { headers: { ...headers, "If-None-Match": tag, "X-Request-Id": "mine" } });
        const opened = await fetch(`${api}/v1/kowah/tables`, {
          method: "POST",
          headers: { ...headers, "Content-Type": "application/json", "Idempotency-Key": "one" },
          body: "{}",
        });
        const dated = Math.abs(Date.parse(view.headers.get("Date")) - Date.now());
        const names = [same.headers.get("X-Request-Id"), opened.headers.get("Location"), opened.status];
        return { tag, same: same.status, names, dated };
        """
    )
    assert said["tag"] == '"2"'
    assert said["same"] in {200, 304}  # Some browsers answer from what they keep when they hear that it is the same.
    assert said["names"][0] == "mine"
    assert said["names"][1].startswith("/v1/kowah/tables/")
    assert said["names"][2] == 201
    assert said["dated"] < 60_000
    assert browser.complaints() == []


def test_a_page_reads_why_it_was_refused(browser: Browser) -> None:
    said = browser.run(
        """
        const problems = [];
        for (const [method, path, body] of [
          ["GET", "/v1/chinkway/tables/00000000000000000000000000"],
          ["POST", "/v1/tickets", { path: "/v1/me" }],
          ["PATCH", "/v1/games", {}],
          ["DELETE", "/nonesuch"],
          ["POST", "/v1/players", { name: 1 }],
        ]) {
          await evenfold.ask(method, path, body).catch(({ problem }) => problems.push(problem.code));
        }
        evenfold.token = "evf_none";
        await evenfold.ask("GET", "/v1/me").catch(({ problem }) => problems.push(problem.code));
        return problems;
        """
    )
    assert said == ["not_found", "no_stream", "method_not_allowed", "not_found", "malformed", "unauthenticated"]
    # The browser tells of every status above 400, and of nothing else: no page was kept from reading its answer.
    assert all("the server responded with a status of 4" in told for told in browser.complaints())


# --- Playing ---


WHOLE = {
    "kowah": {},
    "chinkway": {"bots": ["anyone"] * 4, "options": {"deals": 5, "partners": "five"}},
}
"""What opens a table for one person and bots: the shortest game, and the shortest match."""


@pytest.mark.parametrize("game", WHOLE)
def test_a_page_plays_a_whole_match_over_a_socket(browser: Browser, server: Server, game: str) -> None:
    match = browser.run("return playBySocket(...given)", game, WHOLE[game])
    with closing(onlooker(server).http) as http:
        view = http.get(match["path"]).json()
    assert view["status"] == "ended"
    assert match["versions"] == list(range(1, view["version"] + 1))
    assert set(match["answers"]) == {201}
    assert match["names"] == ["watched", "decision", "ended"]
    assert browser.complaints() == []


def test_a_page_follows_and_plays_several_tables_over_one_socket(browser: Browser) -> None:
    seen, statuses = browser.run(
        """
        const tables = [await sit("chinkway", {}), await sit("chinkway", {})];
        const seen = {};
        const socket = await evenfold.socket(({ type, table, version }) => {
          if (type === "decision") (seen[table] ??= []).push(version);
        });
        for (const { table } of tables) socket.watch(table, 1);
        const answers = await Promise.all(
          tables.map(({ path }) => socket.command(`${path}/seats`, {})),
        );
        await until(() => Object.keys(seen).length === 2);
        socket.close();
        return [Object.values(seen).map((versions) => versions[0]), answers.map(({ body }) => body.code)];
        """
    )
    assert seen == [2, 2]
    assert statuses == ["already_seated", "already_seated"]
    assert browser.complaints() == []


def test_a_command_has_the_headers_of_its_route_and_does_not_wait_for_a_socket_that_closes(browser: Browser) -> None:
    versions, stale, thrown = browser.run(
        """
        const { path } = await sit("chinkway", { start: "host" });
        const socket = await evenfold.socket(() => {});
        const seat = [path.replace(/[/][^/]+$/, ""), {}, { key: "once" }];
        const [one, same] = [await socket.command(...seat), await socket.command(...seat)];
        const stale = await socket.command(`${path}/commands`, { type: "table.abandon" }, { if_match: '"1"' });
        const thrown = [];
        const late = socket.command(`${path}/commands`, { type: "table.abandon" }).catch(() => thrown.push("late"));
        socket.close();
        await late;
        await socket.command(`${path}/commands`).catch(() => thrown.push("closed"));
        return [[one.body.table, same.body.table], stale.status, thrown];
        """
    )
    assert versions[0] == versions[1] is not None
    assert stale == 412
    assert thrown == ["late", "closed"]
    assert browser.complaints() == []


def test_a_socket_ends_with_the_token_that_asked_for_its_ticket(browser: Browser) -> None:
    code = browser.run(
        """
        const { token, id } = await evenfold.ask("POST", "/v1/tokens", { scopes: ["play"] });
        const other = new Evenfold(api, token);
        const closed = new Promise((code) => other.socket(() => {}, code).then(() =>
          evenfold.ask("DELETE", `/v1/tokens/${id}`)));
        return await closed;
        """
    )
    assert code == 4401


# --- Other origins ---


def test_a_page_of_an_origin_that_is_not_named_reads_and_opens_nothing(
    chromium: Browser, valkey_url: str, tmp_path: Path
) -> None:
    with served(valkey_url, tmp_path / "keys", origins=("https://cards.example.org",)) as api:
        chromium.open(api)
        came = chromium.run("return evenfold.signUp('Ada').then(() => 'read', (error) => error.name)")
        person = Person(api)
        path = person.post("/v1/chinkway/tables").headers["Location"] + "/events"
        ticket = person.post("/v1/tickets", {"path": path}).json()["ticket"]
        state = chromium.run(
            """
            const [path] = given;
            const source = new EventSource(api + path);
            await new Promise((refused) => (source.onerror = refused));
            return source.readyState;
            """,
            f"{path}?ticket={ticket}",
        )
        ticket = person.post("/v1/tickets", {"path": "/v1/socket"}).json()["ticket"]
        code = chromium.run(
            """
            const [path] = given;
            const socket = new WebSocket(api.replace("http", "ws") + path);
            return new Promise((closed) => (socket.onclose = ({ code }) => closed(code)));
            """,
            f"/v1/socket?ticket={ticket}",
        )
        person.http.close()
    assert (came, state, code) == ("TypeError", 2, 1006)
    assert any("blocked by CORS policy" in told for told in chromium.complaints())


def test_a_page_of_an_origin_that_is_named_does(chromium: Browser, valkey_url: str, tmp_path: Path) -> None:
    with served(valkey_url, tmp_path / "keys", origins=("https://cards.example.org", chromium.page)) as api:
        chromium.open(api)
        versions = chromium.run(
            """
            await evenfold.signUp("Ada");
            const { path } = await sit("chinkway", {});
            const stop = follow(`${path}/events`);
            await until(() => versions().length === 2);
            stop();
            return versions();
            """
        )
    assert versions == [1, 2]
    assert chromium.complaints() == []


# --- What the page for browsers shows ---


def test_the_examples_do_what_they_say(browser: Browser, server: Server) -> None:
    first, second = (example.replace("https://cards.example.org", server.url) for example in EXAMPLES)
    versions, text = browser.run(
        f"""
        const said = [];
        const console = {{ log: (...words) => said.push(words) }};
        {first}
        await until(() => said.length >= 4);
        {second}
        const reader = lines.getReader();
        return [said.slice(0, 4).map(([version]) => version), (await reader.read()).value];
        """
    )
    assert versions == [1, 2, 3, 4]
    assert text.startswith(("\n", '{"version":1,'))
    assert browser.complaints() == []
