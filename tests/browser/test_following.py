"""A page of another origin follows tables and the lobby, in a real browser, by EventSource and by fetch."""

import os
import signal
from contextlib import closing
from pathlib import Path

import pytest

from service.settings import NO_LIMITS
from tests.browser.chromium import LISTING, Browser
from tests.browser.conftest import onlooker
from tests.served import served
from tests.service.cli.processes import Server, until
from tests.sizes import CI


def test_a_page_follows_a_table_to_its_end_by_event_source(browser: Browser, server: Server) -> None:
    path, heard = browser.run(
        """
        const { path } = await sit("kowah", {});
        follow(`${path}/events`);
        await play(path, Infinity);
        await until(isOver);
        return [path, told];
        """
    )
    with closing(onlooker(server).http) as http:
        version = http.get(path).json()["version"]
    assert [each["name"] for each in heard] == ["decision"] * version + ["ended"]
    assert [each["data"]["version"] for each in heard] == [*range(1, version + 1), version]
    assert browser.complaints() == []


CUTS = [signal.SIGKILL, *[signal.SIGTERM] * CI]


@pytest.mark.parametrize("number", CUTS, ids=lambda number: number.name)
def test_a_stream_that_is_cut_goes_on_where_it_was(browser: Browser, server: Server, number: signal.Signals) -> None:
    path = browser.run(
        """
        globalThis.sitting = await sit("kowah", {});
        follow(`${sitting.path}/events`);
        await play(sitting.path, 2);
        await until(() => versions().length > 3);
        return sitting.path;
        """
    )
    seen = browser.run("return versions().length")
    worker = server.part(" api ")
    os.kill(worker, number)
    until(lambda: server.part(" api ") not in {0, worker} and server.is_ready())
    heard = browser.run(
        """
        await play(sitting.path, Infinity);
        await until(isOver);
        return told.map(({ name, data }) => [name, data?.version]);
        """
    )
    with closing(onlooker(server).http) as http:
        version = http.get(path).json()["version"]
    assert 0 < seen < version
    assert heard == [["decision", each] for each in range(1, version + 1)] + [["ended", version]]
    # That it was cut off the browser may tell, and nothing else.
    assert [told for told in browser.complaints() if "net::ERR_" not in told] == []


def test_a_page_is_told_of_all_its_tables_by_one_event_source(browser: Browser) -> None:
    tables, heard = browser.run(
        """
        const stop = follow("/v1/me/events");
        const tables = [await sit("kowah", {}), await sit("chinkway", {})].map(({ table }) => table);
        await evenfold.ask("POST", `/v1/kowah/tables/${tables[0]}/commands`, { type: "table.resign" });
        await until(() => told.some(({ data }) => data.type === "table_ended"));
        await until(() => told.some(({ data }) => data.table === tables[1]));
        stop();
        return [tables, told.map(({ name, data }) => [name, data.table, data.type, data.number])];
        """
    )
    assert {name for name, *_ in heard} == {"notice"}
    assert [number for *_, number in heard] == list(range(1, len(heard) + 1))
    assert {(tables[0], "table_ended"), (tables[0], "seated"), (tables[1], "seated")} <= {
        (table, kind) for _, table, kind, _ in heard
    }
    assert browser.complaints() == []


def test_a_page_follows_the_lobby_from_the_list_that_it_has(browser: Browser) -> None:
    table, heard = browser.run(
        """
        const { player } = await evenfold.ask("GET", "/v1/me");
        const { tables, cursor } = await evenfold.ask("GET", `/v1/tables?host=${player.id}`);
        const { table } = await evenfold.ask("POST", "/v1/chinkway/tables", {});
        const stop = follow("/v1/tables", { since: cursor, host: player.id });
        await until(() => told.length === 1);
        await evenfold.ask("POST", `/v1/chinkway/tables/${table}/commands`, { type: "table.abandon" });
        await until(() => told.length === 2);
        stop();
        return [table, [...tables, ...told]];
        """
    )
    assert [each["name"] for each in heard] == ["table", "gone"]
    assert table in str(heard[0]["data"])
    assert table in str(heard[1]["data"])
    assert browser.complaints() == []


def test_the_list_of_the_lobbys_page_keeps_up(browser: Browser) -> None:
    """Its example is run as it stands there."""
    before, during, after = browser.run(
        f"""
        const first = (await evenfold.ask("POST", "/v1/chinkway/tables", {{}})).table;
        const listed = async () => (await evenfold.ask("GET", "/v1/tables")).tables.map(({{ table }}) => table);
        await until(async () => (await listed()).includes(first));
        {LISTING}
        const before = list.has(first);
        const second = (await evenfold.ask("POST", "/v1/chinkway/tables", {{}})).table;
        await until(() => list.has(second));
        const during = list.has(first);
        await evenfold.ask("POST", `/v1/chinkway/tables/${{first}}/commands`, {{ type: "table.abandon" }});
        await until(() => !list.has(first));
        return [before, during, list.has(second)];
        """
    )
    assert (before, during, after) == (True, True, True)
    assert browser.complaints() == []


def test_the_list_of_the_lobbys_page_keeps_no_table_that_goes_while_it_is_fetched_anew(browser: Browser) -> None:
    away, back = browser.run(
        f"""
        const {{ table }} = await evenfold.ask("POST", "/v1/chinkway/tables", {{}});
        const listed = async () => (await evenfold.ask("GET", "/v1/tables")).tables.map(({{ table }}) => table);
        await until(async () => (await listed()).includes(table));
        {LISTING}
        const {{ version }} = list.get(table);
        const anew = fetched();
        drop({{ table, version }});
        await anew;
        const away = !list.has(table);
        await fetched();
        return [away, list.has(table)];
        """
    )
    assert (away, back) == (True, True)
    assert browser.complaints() == []


def test_an_event_source_that_is_left_alone_gives_up_when_its_ticket_is_spent(browser: Browser) -> None:
    """It comes again once after the end, by itself, and not for ever."""
    errors = browser.run(
        """
        const { path, table } = await sit("kowah", {});
        await evenfold.ask("POST", `${path}/commands`, { type: "table.resign" });
        const source = new EventSource(await evenfold.opening(`${path}/events`));
        const errors = [];
        let ended = 0;
        source.addEventListener("ended", () => (ended += 1));
        source.onerror = () => errors.push(source.readyState);
        await until(() => source.readyState === EventSource.CLOSED);
        return { ended, errors };
        """
    )
    assert errors == {"ended": 1, "errors": [0, 2]}
    (told,) = browser.complaints()
    assert "the server responded with a status of 401" in told


def test_a_page_reads_lines_by_fetch_without_a_ticket(browser: Browser) -> None:
    lines = browser.run(
        """
        const { path } = await sit("kowah", {});
        const headers = { Accept: "application/x-ndjson", Authorization: `Bearer ${evenfold.token}` };
        const answer = await fetch(`${api}${path}/events?follow=true`, { headers });
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let text = "";
        const read = (async () => {
          for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
        })();
        await until(() => text.includes("table.turn_began"));
        await evenfold.ask("POST", `${path}/commands`, { type: "table.resign" });
        await read;
        return text.split("\\n").filter(Boolean).map((line) => JSON.parse(line));
        """
    )
    decisions, last = lines[:-1], lines[-1]
    assert [line["version"] for line in decisions] == list(range(1, len(decisions) + 1))
    assert last == {"type": "ended", "version": len(decisions)}
    assert browser.complaints() == []


def test_a_page_verifies_a_record_by_itself(browser: Browser) -> None:
    good, bad, version = browser.run(
        """
        const { path } = await sit("kowah", {});
        await evenfold.ask("POST", `${path}/commands`, { type: "table.resign" });
        const checkpoint = await evenfold.ask("GET", `${path}/checkpoint`);
        const headers = { Authorization: `Bearer ${evenfold.token}` };
        const record = new Uint8Array(await (await fetch(`${api}${path}/record`, { headers })).arrayBuffer());
        const keys = await (await fetch(`${api}/.well-known/evenfold-keys.json`)).json();
        const { verify } = await import(`${api}/verify.mjs`);
        const good = await verify(record, keys, [checkpoint]);
        record[record.length - 40] ^= 1;
        return [good, await verify(record, keys, [checkpoint]), checkpoint.version];
        """
    )
    assert (good["ok"], good["version"], bad["ok"]) == (True, version, False)


def test_what_a_page_follows_ends_with_its_token(browser: Browser) -> None:
    browser.run(
        """
        const { token, id } = await evenfold.ask("POST", "/v1/tokens", { scopes: ["play"] });
        const { path } = await sit("chinkway", {});
        globalThis.owner = evenfold.token;
        evenfold.token = token;
        follow(`${path}/events`);
        await until(() => versions().length === 2);
        evenfold.token = owner;
        await evenfold.ask("DELETE", `/v1/tokens/${id}`);
        evenfold.token = token;
        await until(isOver);
        """
    )
    name, problem = browser.run("return [told.at(-1).name, told.at(-1).data.code]")
    assert (name, problem) == ("refused", "unauthenticated")
    (complaint,) = browser.complaints()
    assert "the server responded with a status of 401" in complaint


def test_a_stream_that_is_refused_tells_why(browser: Browser) -> None:
    """Its ticket is not refused, and EventSource doesn't say."""
    problem = browser.run(
        """
        follow(`/v1/chinkway/tables/${"0".repeat(26)}/events`);
        await until(isOver);
        return told[0].data;
        """
    )
    assert problem["code"] == "not_found"


def test_a_stream_that_is_refused_for_now_is_opened_later(chromium: Browser, valkey_url: str, tmp_path: Path) -> None:
    with served(valkey_url, tmp_path / "keys", limits=NO_LIMITS._replace(streams=1)) as api:
        chromium.open(api)
        before, after = chromium.run(
            """
            await evenfold.signUp("Ada");
            const { path } = await sit("chinkway", {});
            const socket = await evenfold.socket(() => {});
            const stop = follow(`${path}/events`);
            await until(() => performance.getEntriesByType("resource").some(({ name }) => name.includes("limit=1")));
            const before = told.length;
            socket.close();
            await until(() => told.length === 2);
            stop();
            return [before, versions()];
            """
        )
    assert (before, after) == (0, [1, 2])
