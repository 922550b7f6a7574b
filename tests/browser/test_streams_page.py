"""What the page on streams shows for browsers, in one."""

from tests.browser.chromium import Browser
from tests.service.api.test_streams_page import fenced


def test_a_page_follows_a_table_by_what_is_shown_there(browser: Browser) -> None:
    (shown,) = fenced("js")
    told = browser.run(
        f"""
        const token = evenfold.token;
        {shown}
        const {{ table }} = await evenfold.ask("POST", "/v1/chinkway/tables", {{ start: "host" }});
        const path = `/v1/chinkway/tables/${{table}}`;
        const told = [];
        await follow(path, 0, (kind, data) => told.push([kind, data.version]));
        await until(() => told.length === 1);
        await evenfold.ask("POST", `${{path}}/seats`, {{}});
        await evenfold.ask("POST", `${{path}}/commands`, {{ type: "table.abandon" }});
        await until(() => told.length === 4);
        return told;
        """
    )
    assert told == [["decision", 1], ["decision", 2], ["decision", 3], ["ended", 3]]
