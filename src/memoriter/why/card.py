"""Answers, hits, explanations and plans as HTML, for files and notebooks.

A card is one element that carries what it draws (`why.drawing`, as JSON), its style and the module
`drawing.js`, which the page in the browser uses too. Where scripts are blocked, a plain table is
seen in its place. Nothing is fetched, and every text is escaped.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Final, NewType

from memoriter.core.explanation import Explanation
from memoriter.core.names import JsonObject
from memoriter.text.safe import safe
from memoriter.why.draw_plan import draw_plan
from memoriter.why.drawing import draw_answer, draw_explanation, draw_single, summary_of

if TYPE_CHECKING:
    from memoriter.pipeline.plan import Plan
    from memoriter.why.hit import Hit
    from memoriter.why.result import Result

Html = NewType("Html", str)
"""Markup whose texts are escaped. `_tag` accepts nothing else, so no text is used unescaped."""
_PAGE_STYLE: Final = "html{color-scheme:light dark}body{margin:0}"
_UNSAFE: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
"""In JSON inside a document: no text can end the element around it."""


def result_page(result: Result) -> str:
    """A result as a complete HTML page."""
    scripts, styles = _hash(_module()), f"{_hash(_style())} {_hash(_PAGE_STYLE)}"
    policy = f"default-src 'none'; script-src {scripts}; style-src {styles}"
    head = _tag(
        "head",
        Html('<meta charset="utf-8">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        Html('<meta name="viewport" content="width=device-width">'),
        _tag("title", _text(summary_of(result))),
        Html(f"<style>{_PAGE_STYLE}</style>"),
    )
    body = _tag("body", Html(result_html(result)))
    return f'<!doctype html>\n<html lang="en">{head}{body}</html>\n'


def result_html(result: Result) -> str:
    """A result as an HTML fragment, as notebooks show it."""
    drawing = draw_answer(result)
    lines = [f"{each['label']} did not run: {each['reason']}" for each in drawing["missing"]]
    lines += [drawing["verdict"], *drawing["remarks"], drawing["comparable"]]
    return _card(drawing, drawing["title"], _hits_table(drawing["hits"]), lines)


def hit_html(hit: Hit) -> str:
    """One hit as an HTML fragment."""
    drawing = draw_single(hit)
    tables = Html(_hits_table([drawing]) + _tree_table(drawing["tree"]))
    return _card(drawing, "", tables, [drawing["comparable"]])


def explanation_html(node: Explanation) -> str:
    """An explanation as an HTML fragment: every number, down to the counts."""
    drawing = draw_explanation(node)
    return _card(drawing, f"{_sum(drawing)} = {drawing['total']}", _tree_table(drawing["tree"]))


def plan_html(plan: Plan) -> str:
    """A plan as an HTML fragment: which steps run, with which options, and which are skipped."""
    drawing = draw_plan(plan)
    rows = (
        (
            stage["stage"],
            "" if stage["rows"] is None else f"{stage['rows']} rows",
            f"did not run: {stage['skipped']}" if "skipped" in stage else stage["options"],
        )
        for stage in drawing["funnel"]
    )
    return _card(drawing, drawing["title"], _table(("step", "left", "how"), rows))


# -- the element -----------------------------------------------------------------------------------


def _card(drawing: JsonObject, title: str, table: Html, lines: Iterable[str] = ()) -> str:
    """The element; `title`, `table` and `lines` are what is seen where scripts are blocked."""
    # ASCII alone: what hides or reorders text stays an escape until `drawing.js` replaces it.
    data = json.dumps(drawing, ensure_ascii=True, allow_nan=False).translate(_UNSAFE)
    plain = [_tag("p", _tag("b", _text(title)))] if title else []
    plain += [table, *(_tag("p", _text(line)) for line in lines if line)]
    return _tag(
        "memoriter-drawing",
        Html(f'<script type="application/json">{data}</script>'),
        Html(f"<template><style>{_style()}</style></template>"),
        *plain,
    ) + Html(f'<script type="module">{_module()}</script>')


@cache
def drawing_file(name: str) -> str:
    """The text of `drawing.js` or `drawing.css`."""
    return resources.files("memoriter.why").joinpath(name).read_text(encoding="utf-8")


def _module() -> str:
    return drawing_file("drawing.js")


def _style() -> str:
    return drawing_file("drawing.css")


def _hash(text: str) -> str:
    """How a content policy names an inline script or style that may run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


# -- without scripts -------------------------------------------------------------------------------


def _hits_table(hits: Iterable[JsonObject]) -> Html:
    rows = (
        (
            str(hit["rank"]),
            hit["score"],
            hit["relevance"],
            _sum(hit),
            " ".join(
                "".join(piece["text"] for piece in hit[key]) for key in ("title", "text")
            ).strip(),
            " · ".join(filter(None, (*hit["about"], hit["copies"]))),
        )
        for hit in hits
    )
    return _table(("rank", "score", "relevance", "made of", "memory", "about"), rows)


def _tree_table(tree: JsonObject) -> Html:
    return _table(("value", "what", "how"), _tree_rows(tree, 0))


def _tree_rows(node: JsonObject, depth: int) -> Iterator[tuple[str, str, str]]:
    what = " ".join(filter(None, (node["matched"], node["label"])))
    yield node["value"], "· " * depth + what, node["detail"]
    for part in node["parts"]:
        yield from _tree_rows(part, depth + 1)


def _sum(drawing: JsonObject) -> str:
    """The contributions written as a sum, `0.300 words + 0.120 session`."""
    return " + ".join(f"{each['text']} {each['label']}" for each in drawing["sum"])


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Html:
    """A table without the columns that are empty in every row."""
    rows = list(rows)
    kept = [at for at in range(len(heads)) if any(row[at] for row in rows)]
    head = _tag("tr", *(_tag("th", _text(heads[at])) for at in kept))
    body = (_tag("tr", *(_tag("td", _text(row[at])) for at in kept)) for row in rows)
    return _tag("table", head, *body) if kept else Html("")


# -- markup ----------------------------------------------------------------------------------------


def _text(text: str) -> Html:
    # `safe` replaces control characters, which `escape` leaves in.
    return Html(escape(safe(text)))


def _tag(name: str, *inside: Html) -> Html:
    return Html(f"<{name}>{''.join(inside)}</{name}>")
