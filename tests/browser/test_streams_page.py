"""What the page on streams shows for browsers, in one."""

from tests.browser.chromium import Browser
from tests.service.api.test_streams_page import fenced


def test_a_page_follows_a_table_by_what_is_shown_there(browser: Browser) -> None:
    (shown,) = fenced("js")
    told = browser.run(
        f"""
        const token = evenfold.token;
        const api = `${{evenfold.api}}/v1`;
        {shown}
        const {{ table }} = await evenfold.ask("POST", "/v1/chinkway/tables", {{ start: "host" }});
        const below = `/chinkway/tables/${{table}}`;
        const path = `/v1${{below}}`;
        const told = [];
        await follow(below, 0, (kind, data) => told.push([kind, data.version]));
        await until(() => told.length === 1);
        await evenfold.ask("POST", `${{path}}/seats`, {{}});
        await evenfold.ask("POST", `${{path}}/commands`, {{ type: "table.abandon" }});
        await until(() => told.length === 4);
        return told;
        """
    )
    assert told == [["decision", 1], ["decision", 2], ["decision", 3], ["ended", 3]]


def test_it_asks_again_while_nobody_answers_and_gives_up_when_it_is_refused(browser: Browser) -> None:
    (shown,) = fenced("js")
    told, missing, unknown = browser.run(
        f"""
        let token = evenfold.token;
        let api = "http://localhost:1/v1";
        {shown}
        const {{ table }} = await evenfold.ask("POST", "/v1/chinkway/tables", {{ start: "host" }});
        const told = [];
        const show = (kind, data) => told.push([kind, data.version ?? data.code]);
        await follow(`/chinkway/tables/${{table}}`, 0, show, 10);
        api = `${{evenfold.api}}/v1`;
        await until(() => told.length === 1);
        const refusals = [];
        const refuse = (kind, data) => refusals.push([kind, data.code]);
        await follow(`/chinkway/tables/${{"0".repeat(26)}}`, 0, refuse);
        token = "evf_none";
        await follow(`/chinkway/tables/${{table}}`, 0, refuse);
        return [told, ...refusals];
        """
    )
    assert told == [["decision", 1]]
    assert missing == ["refused", "not_found"]
    assert unknown == ["refused", "unauthenticated"]
