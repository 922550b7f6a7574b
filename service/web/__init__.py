"""Pages for people: Markdown shown as HTML, without scripts and without anything fetched from elsewhere."""

import base64
import hashlib
import html
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files

from markdown_it import MarkdownIt
from markdown_it.token import Token

_TEMPLATE = (files(__name__) / "page.html").read_text(encoding="utf-8")
_STYLES = re.findall(r"<style>(.*?)</style>", _TEMPLATE, re.DOTALL)
_HASHES = [base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() for style in _STYLES]

# What goes with every page: it may use the style it brings, and nothing else from anywhere.
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    + " ".join(["style-src", *(f"'sha256-{digest}'" for digest in _HASHES)]),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

_markdown = MarkdownIt("commonmark", {"html": False}).enable("table")


@lru_cache(maxsize=64)
def page(markdown: str) -> str:
    """Return a page of Markdown as HTML; its first heading is the title."""
    title = next((line.lstrip("# ") for line in markdown.splitlines() if line.startswith("# ")), "Evenfold")
    return shown(title, f"<main>{rendered(markdown)}</main>")


def shown(title: str, body: str) -> str:
    """Return a page of this title, its body in HTML."""
    return _TEMPLATE.replace("{title}", html.escape(title)).replace("{body}", body)


def rendered(markdown: str) -> str:
    """Return Markdown as HTML; headings can be linked to, and rows of a table by the code that they begin with."""
    tokens = _markdown.parse(markdown)
    for token, inside in zip(tokens, _insides(tokens), strict=True):
        if token.type == "heading_open" and token.tag != "h1":
            token.attrSet("id", re.sub(r"[^a-z0-9]+", "-", inside.lower()).strip("-"))
        elif token.type == "tr_open" and (code := re.fullmatch(r"`(\w+)`", inside)):
            token.attrSet("id", code[1])
        elif "style" in token.attrs:
            # The policy of a page allows no style but the one in its head.
            token.attrSet("class", str(token.attrs.pop("style")).removeprefix("text-align:"))
    return str(_markdown.renderer.render(tokens, _markdown.options, {}))


def pages() -> dict[str, str]:
    """Return the Markdown of every page by its name: `shuffle` for pages/shuffle.md."""
    return {
        path.name.removesuffix(".md"): path.read_text(encoding="utf-8")
        for path in (files(__name__) / "pages").iterdir()
        if path.name.endswith(".md")
    }


def _insides(tokens: Sequence[Token]) -> list[str]:
    """Return for each token the first text that follows it."""
    insides, text = [], ""
    for token in reversed(tokens):
        text = token.content if token.type == "inline" else text
        insides.append(text)
    return insides[::-1]
