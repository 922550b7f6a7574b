"""Pages for people: Markdown that is shown as HTML, without scripts and without anything fetched from elsewhere."""

import html
from importlib.resources import files

from markdown_it import MarkdownIt

_TEMPLATE = (files(__name__) / "page.html").read_text(encoding="utf-8")
_markdown = MarkdownIt("commonmark", {"html": False}).enable("table")


def page(markdown: str) -> str:
    """Return a page of Markdown as HTML; its first heading is the title."""
    title = next((line.lstrip("# ") for line in markdown.splitlines() if line.startswith("# ")), "Evenfold")
    return _TEMPLATE.replace("{title}", html.escape(title)).replace("{body}", _markdown.render(markdown))


def pages() -> dict[str, str]:
    """Return the Markdown of every page by its name: `shuffle` for pages/shuffle.md."""
    return {
        path.name.removesuffix(".md"): path.read_text(encoding="utf-8")
        for path in (files(__name__) / "pages").iterdir()
        if path.name.endswith(".md")
    }
