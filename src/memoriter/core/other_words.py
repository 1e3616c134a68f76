"""Names that other libraries use for our options, methods and attributes, for helpful errors.

Nothing here is accepted as an alias: the error names the right word.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

from memoriter.core.errors import InputError
from memoriter.core.foreign import attribute_meant, snake

_SINCE: Final = 'where={"created": {"gte": "7d"}}'
_UNTIL: Final = 'where={"created": {"lt": "2026-01-01"}}'
_SCORE: Final = "min_relevance=0.5"
OPTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("k", "top_k", "topk", "n", "n_results", "num_results", "max_results", "count", "size",
         "top_n", "first", "results", "page_size"), "limit"),
    **dict.fromkeys(
        ("filter", "filters", "metadata_filter", "conditions", "criteria", "predicate"), "where"),
    **dict.fromkeys(("since", "after", "from_date", "start", "start_time", "newer_than"), _SINCE),
    **dict.fromkeys(("before", "until", "to_date", "end", "end_time", "older_than"), _UNTIL),
    **dict.fromkeys(
        ("min_score", "score_threshold", "threshold", "cutoff", "similarity_threshold"), _SCORE),
    **dict.fromkeys(("at",), "occurred"),
    **dict.fromkeys(("expire", "expires_in"), "expires"),
    **dict.fromkeys(("valid_at",), "valid_from"),
    **dict.fromkeys(("invalid_at",), "valid_until"),
    **dict.fromkeys(("data",), "text"),
    **dict.fromkeys(("meta", "extra", "attributes", "properties", "payload", "metadatas"),
                    "metadata"),
    **dict.fromkeys(("embedding", "query_vector", "query_embedding", "vec"), "vector"),
    **dict.fromkeys(("embedding_function", "embed", "embed_fn", "embedding_model", "embeddings",
                     "encoder"), "embedder"),
    **dict.fromkeys(("rerank", "rerank_fn", "cross_encoder", "judge"), "reranker"),
    **dict.fromkeys(("path", "file", "filename", "db", "db_path", "url", "uri", "database", "dsn",
                     "store"), "place"),
    **dict.fromkeys(("namespace", "collection", "collection_name", "org", "workspace", "project"),
                    "tenant"),
    **dict.fromkeys(("replaces", "replace", "supersede", "overrides_id"), "supersedes"),
    **dict.fromkeys(("idempotency_key", "request_id", "dedupe_key"), "key"),
    **dict.fromkeys(("readonly",), "read_only"),
    **dict.fromkeys(("strategy", "pipeline", "ranker", "profile", "algorithm"), "recipe"),
    **dict.fromkeys(("max_tokens", "token_budget", "budget", "tokens"), "budget_tokens"),
    **dict.fromkeys(("order", "order_by", "sort_by"), "sort"),
    **dict.fromkeys(("skip",), "offset"),
    **dict.fromkeys(("page", "next", "after_cursor", "token"), "cursor"),
    **dict.fromkeys(("in", "when", "on"), "at"),
    **dict.fromkeys(("as_of_date", "at_time"), "as_of"),
    **dict.fromkeys(("relation", "relationship", "label", "rel"), "kind"),
    **dict.fromkeys(("weights", "boosts"), 'overrides={"pass.0.fuse.weights.words": 0.5}'),
    **dict.fromkeys(("question", "q"), "query"),
    **dict.fromkeys(("from", "from_id", "src", "source_id"), "source"),
    **dict.fromkeys(("to", "to_id", "dst", "target_id"), "target"),
    **dict.fromkeys(("lane", "lanes", "retrievers"), 'mode="bm25"'),
    **dict.fromkeys(("texts", "items", "records", "documents"), "memories"),
}  # fmt: skip
"""Option names of other libraries, and ours; `core.foreign` has the names of record fields."""

ATTRIBUTES_OF: Final[Mapping[str, Mapping[str, str]]] = {
    "Hit": {
        **dict.fromkeys(("memory", "document", "page_content"), "hit.record.text"),
        "metadata": "hit.record.metadata",
        **dict.fromkeys(("explain", "why", "reason", "reasons"), "explanation"),
        **dict.fromkeys(("similarity", "relevance_score", "distance"), "relevance"),
    },
    "Result": {
        **dict.fromkeys(("results", "records", "memories", "matches", "items"), "hits"),
        **dict.fromkeys(("explanation", "score", "record", "matched"), "hits[0].{name}"),
        **dict.fromkeys(("explain", "why"), "hits[0].explanation"),
        "text": "hits[0].record.text",
        **dict.fromkeys(("first", "top", "best", "id"), "hits[0]"),
        "why_not": "memory.why_not(result, id)",
        "verify": "memoriter.verify(result)",
        "replay": "memory.replay(result)",
        "diff": "memoriter.diff(before, after)",
        **dict.fromkeys(("save", "write", "to_file"), "receipt.save(path)"),
        **dict.fromkeys(("to_prompt", "prompt", "as_context"), "context()"),
        **dict.fromkeys(("to_json", "dict", "model_dump", "json"), "to_dict()"),
    },
    "Record": {
        **dict.fromkeys(("to_json", "dict", "model_dump", "json"), "to_dict()"),
        **dict.fromkeys(("score", "rank", "explanation"), "the hit that holds it: hit.{name}"),
    },
    "Receipt": {
        **dict.fromkeys(("dict", "data", "json", "model_dump"), "to_dict()"),
        **dict.fromkeys(("to_json", "dumps", "bytes"), "to_bytes()"),
        **dict.fromkeys(("write", "to_file", "dump"), "save(path)"),
        **dict.fromkeys(("verify", "check", "ok"), "memoriter.verify(receipt)"),
    },
    "Commit": {
        **dict.fromkeys(("record_id", "memory_id", "uuid"), "id"),
        **dict.fromkeys(("text", "record"), "memory.get(commit.id)"),
    },
    "Status": {
        **dict.fromkeys(("count", "total", "size", "memories"), "records"),
    },
    "Page": {
        **dict.fromkeys(("items", "results", "memories", "hits", "data"), "records"),
        **dict.fromkeys(("count", "size", "length"), "total"),
        **dict.fromkeys(("next", "next_cursor", "next_page", "token"), "cursor"),
    },
}  # fmt: skip
"""By class: attributes that people expect, and where the value is."""

VERBS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("delete", "remove", "delete_all", "erase", "drop", "clear", "reset", "purge", "pop",
         "forget_all", "forget_many"),
        "forget(id), or forget(where={…})"),
    **dict.fromkeys(
        ("add", "save", "store", "insert", "put", "write", "create", "memorize", "append", "set",
         "upsert", "log", "record", "ingest"), "remember(text)"),
    **dict.fromkeys(
        ("add_many", "bulk_insert", "add_texts", "batch", "insert_many", "add_documents",
         "remember_all", "remember_batch"), "remember_many([…])"),
    **dict.fromkeys(
        ("search", "query", "find", "retrieve", "similarity_search", "ask", "lookup", "match",
         "get_relevant", "search_memory"), "recall(query)"),
    **dict.fromkeys(
        ("list", "all", "get_all", "scan", "iterate", "items", "records", "find_all", "dump"),
        "browse()"),
    **dict.fromkeys(("edit", "modify", "change", "patch"), "update(id, …)"),
    **dict.fromkeys(("backup", "save_to", "snapshot"), "export(path)"),
    **dict.fromkeys(("restore", "import_", "load_file", "import_data"),
                    "import_file(path), or load(path) for a whole export"),
    **dict.fromkeys(("explain", "why"), "recall(query)[0].explanation"),
    **dict.fromkeys(("versions", "get_history", "audit"), "history(id)"),
    **dict.fromkeys(("connect", "relate", "add_edge", "add_link"), "link(source, target)"),
    **dict.fromkeys(("edges", "neighbors", "neighbours", "related", "relations"), "links(id)"),
    **dict.fromkeys(("for_user", "user", "session", "agent", "with_scope"),
                    "scoped(user=…, agent=…, session=…)"),
    **dict.fromkeys(("stats", "info", "health"), "status()"),
    **dict.fromkeys(("size", "length", "total"), "count()"),
    **dict.fromkeys(("verify", "check", "fsck"),
                    "verify_store(), or memoriter.verify(receipt) for a receipt"),
    **dict.fromkeys(("optimize", "vacuum", "compact", "flush", "commit", "sync"), "maintain()"),
    **dict.fromkeys(("summarize", "consolidate"), "reflect()"),
    **dict.fromkeys(("diff", "compare"), "memoriter.diff(before, after)"),
    **dict.fromkeys(("context", "prompt", "to_prompt"), "recall(query).context()"),
    **dict.fromkeys(("supersede", "correct", "replace"), "remember(text, supersedes=id)"),
    **dict.fromkeys(("receipt", "receipts"), "recall(query).receipt"),
    **dict.fromkeys(("tags", "list_tags", "get_tags"), 'status(by="tags")'),
    **dict.fromkeys(("tenant", "namespace", "collection"), "memoriter.open(place, tenant=…)"),
    **dict.fromkeys(("recipes", "list_recipes"), "`memoriter recipe list` on the command line"),
    **dict.fromkeys(("expire_at", "archive"), "expire(id), or update(id, archived=True)"),
}  # fmt: skip
"""Method names of other libraries, and ours."""

MODULE: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("connect", "Client", "client", "create", "load", "init", "new", "Store", "MemoryStore",
         "Memoriter", "PersistentClient", "from_file", "DB", "Database"),
        'memoriter.open("agent.db")'),
    **dict.fromkeys(("async_open", "open_async", "AsyncClient"), 'memoriter.aopen("agent.db")'),
    **dict.fromkeys(("remember", "recall", "forget", "browse", "replay", "why_not", "keywords"),
                    'memory = memoriter.open("agent.db"), then memory.{name}(…)'),
    **dict.fromkeys(("Error", "MemoriterException", "Exception"), "memoriter.MemoriterError"),
    **dict.fromkeys(("add", "search"), 'memoriter.open("agent.db"), which has remember and recall'),
    **dict.fromkeys(("recipes", "list_recipes"), "`memoriter recipe list` on the command line"),
    **dict.fromkeys(("compare",), "memoriter.diff(before, after)"),
    **dict.fromkeys(("verify_store", "check"), "memory.verify_store()"),
    **dict.fromkeys(("verify_receipt",), "memoriter.verify(receipt)"),
}  # fmt: skip
"""Names that people expect in the package, and what to write."""

_OPEN_OPTIONS: Final = ("tenant", "embedder", "reranker", "read_only", "entities", "durability")
"""Options of `open` that people pass to a query."""
_SCOPED: Final = "scope the opened memory: memory.scoped(user=…, agent=…, session=…)"
_AFTER_OPENING: Final[Mapping[str, str]] = {
    **dict.fromkeys(("user", "agent", "session", "user_id", "agent_id", "session_id"), _SCOPED),
    "recipe": "pass it with the query: memory.recall(query, recipe=…)",
}
"""Options that people pass to `open`, and where they belong."""
_INSTEAD: Final[Mapping[str, str]] = {
    **dict.fromkeys(("explain", "why", "with_explanation", "with_scores"),
                    "every hit has it: result[0].explanation"),
    **dict.fromkeys(("offset", "skip", "page"), "results have no pages: use a larger limit"),
    **dict.fromkeys(("as_of", "at"), "it is called known_at here"),
    **dict.fromkeys(("in_memory", "memory", "ephemeral"), 'use memoriter.open(":memory:")'),
    **dict.fromkeys(("ttl", "expires", "in", "after"),
                    "pass the time as the second argument, or at=…"),
}  # fmt: skip
"""Other options that people expect, and what to do instead."""
NEAR: Final = 0.7
"""How similar (difflib ratio) a known word must be to be suggested."""


def no_such_verb(of: object, name: str) -> AttributeError:
    """The error for a method that a memory does not have."""
    right = VERBS.get(name)
    if right is None and not name.startswith("_"):
        verbs = [each for each in dir(type(of)) if not each.startswith("_")]
        right = next(iter(difflib.get_close_matches(name, verbs, 1, 0.75)), None)
    hint = f": use {right}" if right else ""
    return AttributeError(f"{type(of).__name__} has no {name!r}{hint}")


def no_such_name(name: str) -> AttributeError:
    """The error for a name that the package does not have."""
    hint = f": use {MODULE[name].format(name=name)}" if name in MODULE else ""
    return AttributeError(f"module 'memoriter' has no attribute {name!r}{hint}")


def no_such_attribute(of: object, name: str) -> AttributeError:
    """The error for an attribute that one of our objects does not have."""
    kind = type(of).__name__
    right = ATTRIBUTES_OF.get(kind, {}).get(name, "").format(name=name)
    right = right or _attribute_meant_of(of, name)
    hint = f": use {right}" if right else ""
    return AttributeError(f"{kind} has no {name!r}{hint}")


def _attribute_meant_of(of: object, name: str) -> str:
    """The attribute of an object that a name means; empty if unknown."""
    # `count` and `index` of a sequence are never meant: who misspells them finds another word.
    names = [each for each in dir(type(of)) if not each.startswith("_")]
    names = [each for each in names if each not in {"count", "index"}]
    meant = attribute_meant(name)
    if meant in names:
        return meant or ""
    if meant is not None and type(of).__name__ == "Hit":
        return f"hit.record.{meant}"
    return next(iter(difflib.get_close_matches(name, names, 1)), "")


def _reads(key: object) -> str:
    if not isinstance(key, str):
        return "get(id) reads one memory, browse() lists them, recall(query) searches"
    return f"get({key!r}) reads the memory with this id, recall({key!r}) searches"


class NotAContainer:
    """Mixin: iterating, indexing and `in` raise InputError that names the method to call."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers know that it is none

        def __iter__(self) -> None:
            raise InputError(
                f"a {type(self).__name__} is not a list",
                hint="for record in memory.browse(): … has a page of memories, newest first",
            )

        def __getitem__(self, key: object) -> None:
            raise InputError(
                f"a {type(self).__name__} is not a mapping",
                hint=_reads(key),
            )

        def __contains__(self, key: object) -> bool:
            raise InputError(
                f"`in` does not work with a {type(self).__name__}",
                hint=f"{_reads(key)}; get raises NotFound if there is none",
            )


def not_a_mapping(of: object, key: object) -> TypeError:
    """The error for one of our objects that is read like a mapping."""
    if isinstance(key, str) and hasattr(of, key):
        return TypeError(f"{type(of).__name__} is not a mapping: use .{key}")
    return TypeError(str(no_such_attribute(of, str(key))))


class Hinting:
    """Mixin: an unknown attribute raises AttributeError that names the right one."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers know what is there

        def __getattr__(self, name: str) -> None:
            raise no_such_attribute(self, name)

        def __getitem__(self, key: object) -> None:
            raise not_a_mapping(self, key)


def command_meant(name: str) -> str | None:
    """Our method for a method name of another library, without arguments; None if unknown.

    >>> command_meant("delete"), command_meant("add_texts"), command_meant("fly")
    ('forget', 'remember_many', None)
    """
    right = VERBS.get(snake(name))
    return None if right is None else right.partition("(")[0]


_OPERATIONS: Final[Mapping[str, str]] = {
    "count": "status", "import_file": "remember_many", "verify_store": "status",
}  # fmt: skip
"""Methods of the library that servers have under another name."""


def operation_meant(name: str, known: Collection[str]) -> str:
    """The hint for an operation or tool that a server does not have; empty if none is near.

    >>> operation_meant("memory.search", ("recall", "forget")), operation_meant("fly", ("recall",))
    ('it is called recall here', '')
    """
    plain = name[:80].rpartition(".")[2]
    verb = command_meant(plain) or snake(plain)
    right = verb if verb in known else _OPERATIONS.get(verb)
    if right in known:
        return f"it is called {right} here"
    near = difflib.get_close_matches(plain, list(known), 1, NEAR)
    return f"did you mean {near[0]}?" if near else ""


def right_word(name: str, known: Collection[str], otherwise: str = "") -> str:
    """The hint for an unknown option: the right word, or the list of known ones.

    >>> right_word("top_k", ("query", "limit")), right_word("userId", ("user", "tags"))
    ('it is called limit here', 'it is called user here')
    >>> right_word("since", ("query", "where"))
    'use where={"created": {"gte": "7d"}}'
    >>> right_word("tag", ("query", "where")), right_word("reranker", ("query", "where"))
    ('use where={"tags": …}', 'pass it to open: memoriter.open(…, reranker=…); recall asks it')
    """
    field = attribute_meant(name)
    meant = OPTIONS.get(snake(name), field)
    if meant not in known and field in known:  # an option elsewhere, a field here
        meant = field
    if meant == "text" and "text" not in known and "query" in known:
        meant = "query"  # the text of a search
    if meant in known:
        return f"it is called {meant} here"
    if elsewhere := _elsewhere(name, meant, field, known):
        return elsewhere
    near = difflib.get_close_matches(name, list(known), 1, NEAR)
    return f"did you mean {near[0]}?" if near else otherwise or f"known: {', '.join(known)}"


def _elsewhere(name: str, meant: str | None, field: str | None, known: Collection[str]) -> str:
    """What to write if no option has that name; empty if unknown."""
    if meant is not None and meant.partition("=")[0] in known:
        return f"use {meant}"
    opening = meant if meant in _OPEN_OPTIONS else name
    if opening in _OPEN_OPTIONS:
        asked = "; recall asks it" if opening == "reranker" else ""  # not every search does
        return f"pass it to open: memoriter.open(…, {opening}=…){asked}"
    field = name if name == "metadata" else field
    if field is not None and "where" in known:
        return f'use where={{"{field}": …}}'
    if "durability" in known and name in _AFTER_OPENING:  # an option of `open`
        return _AFTER_OPENING[name]
    return _INSTEAD.get(name, "")
