"""Names of other libraries for our options, methods and attributes, and what to write here.

Nothing here is accepted as an alias: `core.other_words` makes errors that name the right word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_SINCE: Final = 'where={"created": {"gte": "7d"}}'
_UNTIL: Final = 'where={"created": {"lt": "2026-01-01"}}'
EXAMPLE: Final = re.compile(r'"(?:7d|2026-01-01)"')
"""The time in these two, in whose place the caller's own is shown."""
_SCORE: Final = "min_relevance=0.5"
OPTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("k", "top_k", "topk", "n", "n_results", "num_results", "max_results", "count", "size",
         "top_n", "first", "results", "page_size", "num"), "limit"),
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
    **dict.fromkeys(("next", "after_cursor", "token"), "cursor"),
    **dict.fromkeys(("in", "when", "on"), "at"),
    **dict.fromkeys(("as_of_date", "at_time"), "as_of"),
    **dict.fromkeys(("include_superseded", "show_superseded", "with_superseded"), "superseded"),
    **dict.fromkeys(("relation", "relationship", "label", "rel"), "kind"),
    **dict.fromkeys(("search_type", "method"), "recipe"),
    "where_document": "where",
    "query_texts": "query",
    **dict.fromkeys(("persist_directory", "directory", "folder", "location"), "place"),
    "model": "embedder",
    **dict.fromkeys(("dim", "dims", "dimension", "dimensions"), 'embedder="given:384"'),
    "hybrid": 'mode="hybrid"',
    **dict.fromkeys(("weights", "boosts", "alpha"), 'overrides={"pass.0.fuse.weights.words": 0.5}'),
    **dict.fromkeys(("question", "q"), "query"),
    **dict.fromkeys(("from", "from_id", "src", "source_id"), "source"),
    **dict.fromkeys(("to", "to_id", "dst", "target_id"), "target"),
    **dict.fromkeys(("lane", "lanes", "retrievers"), 'mode="bm25"'),
    **dict.fromkeys(("texts", "items", "records", "documents"), "memories"),
}  # fmt: skip
"""Option names of other libraries, and ours; `core.foreign` has the names of record fields."""

_AS_DATA: Final = ("to_json", "json", "dict", "model_dump", "as_dict", "asdict", "data")
ATTRIBUTES_OF: Final[Mapping[str, Mapping[str, str]]] = {
    "Hit": {
        **dict.fromkeys(("memory", "document", "page_content", "content", "body"), "text"),
        "payload": "hit.record.metadata",
        "metadata": "hit.record.metadata",
        **dict.fromkeys(("explain", "why", "reason", "reasons"), "explanation"),
        **dict.fromkeys(("similarity", "relevance_score", "distance"), "relevance"),
        **dict.fromkeys(_AS_DATA, "to_dict()"),
        **dict.fromkeys(("get", "keys", "items", "fields"), "hit.record, which has every field"),
        "memory_id": "id",
    },
    "Explanation": {
        **dict.fromkeys(_AS_DATA, "to_dict()"),
        **dict.fromkeys(("children", "details", "terms", "lanes", "components"), "parts"),
        **dict.fromkeys(("score", "total", "number"), "value"),
        **dict.fromkeys(("name", "title", "description"), "label"),
    },
    "Plan": {
        **dict.fromkeys(_AS_DATA, "to_dict()"),
        **dict.fromkeys(("lanes", "retrievers", "signals"),
                        "running for those that run, skipped for the others"),
        **dict.fromkeys(("stages", "pipeline", "order"), "steps"),
        **dict.fromkeys(("weights", "fusion", "passes", "boosts", "limit", "name", "version"),
                        "recipe, which has every option"),
        **dict.fromkeys(("explain", "text", "describe"), "str(plan)"),
    },
    "WhyNot": {
        **dict.fromkeys(_AS_DATA, "to_dict()"),
        **dict.fromkeys(("explanation", "why", "message", "text"), "reason"),
        **dict.fromkeys(("fix", "suggestion", "hint", "overrides"), "change"),
        "rank": "rank_then",
    },
    "Replay": {
        **dict.fromkeys(_AS_DATA, "to_dict()"),
        **dict.fromkeys(("ok", "equal", "matches", "identical"), "same"),
        **dict.fromkeys(("hits", "ids"), "result.hits"),
    },
    "Diff": {
        **dict.fromkeys(_AS_DATA, "to_dict()"),
        **dict.fromkeys(("added", "new"), "entered"),
        **dict.fromkeys(("removed", "lost", "gone"), "left"),
        **dict.fromkeys(("changes", "changed", "moved"), "moves"),
        **dict.fromkeys(("equal", "identical"), "same"),
    },
    "Edge": {
        **dict.fromkeys(_AS_DATA, "to_dict()"),
        **dict.fromkeys(("type", "relation", "label", "rel"), "kind"),
        **dict.fromkeys(("src", "from_id", "source_id"), "source"),
        **dict.fromkeys(("dst", "to", "to_id", "target_id"), "target"),
    },
    "Result": {
        **dict.fromkeys(("results", "records", "memories", "matches", "items"), "hits"),
        **dict.fromkeys(("explanation", "score", "record", "matched"), "hits[0].{name}"),
        **dict.fromkeys(("explain", "why"), "hits[0].explanation"),
        **dict.fromkeys(("text", "page_content"), "hits[0].text"),
        **dict.fromkeys(("ids", "id_list"), "[hit.id for hit in result]"),
        **dict.fromkeys(("texts", "documents", "contents", "page_contents"),
                        "[hit.text for hit in result]"),
        **dict.fromkeys(("scores", "distances", "similarities"),
                        "[hit.relevance for hit in result]"),
        **dict.fromkeys(("metadatas", "metadata", "payloads"),
                        "[hit.record.metadata for hit in result]"),
        **dict.fromkeys(("explanations", "reasons"), "[hit.explanation for hit in result]"),
        **dict.fromkeys(("size", "length"), "len(result)"),
        **dict.fromkeys(("tolist", "to_list", "all"), "list(result)"),
        **dict.fromkeys(("empty", "is_empty"), "not result"),
        **dict.fromkeys(("first", "top", "best", "id", "one", "top_hit"), "hits[0]"),
        "why_not": "memory.why_not(result, id)",
        "verify": "memoriter.verify(result)",
        "replay": "memory.replay(result)",
        "diff": "memoriter.diff(before, after)",
        **dict.fromkeys(("save", "write", "to_file"), "receipt.save(path)"),
        **dict.fromkeys(("to_prompt", "prompt", "as_context"), "context()"),
        **dict.fromkeys((*_AS_DATA, "to_df", "to_pandas"), "to_dict()"),
    },
    "Agents": dict.fromkeys(("add", "create", "register", "set", "update", "put"), "upsert(agent)"),
    "Embedding": dict.fromkeys(("model", "name", "embedder", "dimension", "spaces"), "status()"),
    "Analyzers": dict.fromkeys(("all", "names"), "list()"),
    "Record": {
        **dict.fromkeys(_AS_DATA, "to_dict()"),
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

CALLS: Final[Mapping[str, str]] = dict.fromkeys(
    ("unlink", "remove_link", "delete_link", "remove_edge", "delete_edge"),
    "link(source, target, kind=…, valid_until=…) with the same valid_from: that ends the link",
)
"""Methods of other libraries for which one of ours needs certain options."""

VERBS: Final[Mapping[str, str]] = {
    **CALLS,
    **dict.fromkeys(
        ("delete", "remove", "delete_all", "erase", "drop", "clear", "reset", "purge", "pop",
         "forget_all", "forget_many", "delete_memory", "delete_collection", "delete_user",
         "delete_users", "unremember", "discard"),
        "forget(id), or forget(where={…})"),
    **dict.fromkeys(
        ("add", "save", "store", "insert", "put", "write", "create", "memorize", "append", "set",
         "upsert", "log", "record", "ingest", "add_memory", "add_document", "add_text", "observe",
         "save_context", "add_message", "add_user_message", "add_ai_message"), "remember(text)"),
    **dict.fromkeys(
        ("add_many", "bulk_insert", "add_texts", "batch", "insert_many", "add_documents",
         "remember_all", "remember_batch", "add_all", "extend", "add_messages", "from_texts",
         "from_documents", "upsert_many", "batch_add", "bulk_add"), "remember_many([…])"),
    **dict.fromkeys(
        ("search", "query", "find", "retrieve", "similarity_search", "ask", "lookup", "match",
         "get_relevant", "search_memory", "search_memories", "most_similar", "nearest",
         "get_relevant_documents", "get_relevant_memories", "as_retriever", "invoke", "rank",
         "similarity_search_with_score", "similarity_search_with_relevance_scores",
         "max_marginal_relevance_search", "load_memory_variables", "semantic_search",
         "hybrid_search", "vector_search", "text_search", "full_text_search", "rerank"),
        "recall(query)"),
    **dict.fromkeys(
        ("recall_many", "recall_all", "recall_batch", "batch_recall", "search_many", "query_many",
         "search_all", "batch_search", "multi_query"),
        "[memory.recall(query) for query in queries]"),
    **dict.fromkeys(
        ("similar_to", "more_like_this", "find_similar", "get_similar", "nearest_neighbors"),
        "recall(memory.get(id).text)"),
    **dict.fromkeys(
        ("search_by_vector", "similarity_search_by_vector", "query_by_vector", "query_vector"),
        "recall(query, vector=[…])"),
    **dict.fromkeys(
        ("list", "all", "get_all", "scan", "iterate", "items", "records", "find_all",
         "latest", "recent", "last", "newest", "first", "oldest", "peek", "head", "tail", "keys",
         "values", "ids", "messages", "list_all", "list_memories", "get_memories", "history_all",
         "filter", "where"),
        "browse()"),
    **dict.fromkeys(("get_by_id", "get_memory", "fetch", "read", "find_one", "get_by_ids",
                     "get_many", "exists", "has", "contains"), "get(id)"),
    **dict.fromkeys(("edit", "modify", "change", "patch", "update_memory", "update_document"),
                    "update(id, …)"),
    **dict.fromkeys(("save_to", "snapshot", "copy_to", "dump"),
                    "backup(path), or export(path) for a tenant"),
    "restore": "memoriter.restore(backup, store)",
    **dict.fromkeys(("import_", "load_file", "import_data"),
                    "import_file(path), or load(path) for a whole export"),
    **dict.fromkeys(("explain", "why"), "recall(query)[0].explanation"),
    **dict.fromkeys(("versions", "get_history", "audit"), "history(id)"),
    **dict.fromkeys(("connect", "relate", "add_edge", "add_link"), "link(source, target)"),
    **dict.fromkeys(("edges", "neighbors", "neighbours", "related", "relations", "graph"),
                    "links(id)"),
    **dict.fromkeys(("transaction", "begin", "atomic"),
                    "remember_many([…]), which writes all or nothing"),
    **dict.fromkeys(("for_user", "user", "session", "agent", "with_scope", "with_user",
                     "as_user", "scope_to"),
                    "scoped(user=…, agent=…, session=…)"),
    **dict.fromkeys(("stats", "info", "health", "heartbeat", "describe", "summary"), "status()"),
    **dict.fromkeys(("size", "length", "total", "count_all", "num_memories"), "count()"),
    **dict.fromkeys(("disconnect", "shutdown", "aclose", "dispose", "quit"), "close()"),
    **dict.fromkeys(("users", "list_users", "get_users"), 'status(by="user")'),
    **dict.fromkeys(("sessions", "list_sessions"), 'status(by="session")'),
    **dict.fromkeys(("rebuild", "reindex", "repair"), "doctor()"),
    **dict.fromkeys(("not_found", "why_missing", "explain_missing"), "why_not(result, id)"),
    **dict.fromkeys(("embed", "embed_query", "embedder"), "embedding, or memoriter.open(place,"
                    " embedder=…)"),
    **dict.fromkeys(("verify", "check", "fsck"),
                    "verify_store(), or memoriter.verify(receipt) for a receipt"),
    **dict.fromkeys(("optimize", "vacuum", "compact", "merge"), "maintain()"),
    **dict.fromkeys(("flush", "commit", "sync", "persist", "save_local"),
                    "remember(text), which is durable when it returns"),
    **dict.fromkeys(("unforget", "undelete", "undo", "recover"),
                    "memoriter.restore(backup, store): nothing else brings back what is forgotten"),
    **dict.fromkeys(("accept", "approve", "reject"), "decide(source, target, accept=…)"),
    **dict.fromkeys(("pending", "claims", "conflicts"), "review()"),
    "what_if": "recall(query).what_if(overrides)",
    "unarchive": "update(id, archived=False)",
    **dict.fromkeys(("summarize", "consolidate"), "reflect()"),
    **dict.fromkeys(("diff", "compare"), "memoriter.diff(before, after)"),
    **dict.fromkeys(("context", "prompt", "to_prompt"), "recall(query).context()"),
    **dict.fromkeys(("supersede", "correct", "replace"), "remember(text, supersedes=id)"),
    **dict.fromkeys(("receipt", "receipts"), "recall(query).receipt"),
    **dict.fromkeys(("tags", "list_tags", "get_tags"), 'status(by="tags")'),
    **dict.fromkeys(("tenant", "namespace", "collection", "create_collection", "get_collection",
                     "get_or_create_collection", "list_collections"),
                    "memoriter.open(place, tenant=…)"),
    **dict.fromkeys(("recipes", "list_recipes"), "`memoriter recipe list` on the command line"),
    **dict.fromkeys(("expire_at", "archive"), "expire(id), or update(id, archived=True)"),
    **dict.fromkeys(("path", "place", "file", "filename", "db", "name", "store_path"),
                    "repr(memory), which names its file"),
    **dict.fromkeys(("recipe", "set_recipe", "config", "settings"), "recall(query, recipe=…)"),
    **dict.fromkeys(("set_embedder", "model"), "memoriter.open(place, embedder=…)"),
    **dict.fromkeys(("reranker", "set_reranker"), "memoriter.open(place, reranker=…)"),
}  # fmt: skip
"""Method names of other libraries, and ours."""

MODULE: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("connect", "Client", "client", "create", "load", "init", "new", "Store", "MemoryStore",
         "from_config", "Config", "configure", "from_path", "from_env", "open_or_create",
         "Memoriter", "PersistentClient", "from_file", "DB", "Database", "MemoryClient", "start",
         "VectorStore", "Collection"),
        'memoriter.open("agent.db")'),
    "EphemeralClient": "memoriter.open()",
    **dict.fromkeys(("HttpClient", "serve", "Server"), "`memoriter serve` on the command line"),
    **dict.fromkeys(("async_open", "open_async", "AsyncClient", "AsyncMemoryClient",
                     "AsyncMemoriter"), 'memoriter.aopen("agent.db")'),
    **dict.fromkeys(("remember", "recall", "forget", "browse", "replay", "why_not", "keywords"),
                    'memory = memoriter.open("agent.db"), then memory.{name}(…)'),
    **dict.fromkeys(("Error", "MemoriterException", "Exception"), "memoriter.MemoriterError"),
    **dict.fromkeys(("add", "search"), 'memoriter.open("agent.db"), which has remember and recall'),
    **dict.fromkeys(("recipes", "list_recipes"), "`memoriter recipe list` on the command line"),
    **dict.fromkeys(("rrf", "fuse", "mmr"), "memoriter.rank.{name}"),
    **dict.fromkeys(("compare",), "memoriter.diff(before, after)"),
    **dict.fromkeys(("verify_store", "check"), "memory.verify_store()"),
    **dict.fromkeys(("verify_receipt",), "memoriter.verify(receipt)"),
    **dict.fromkeys(("version", "VERSION", "__VERSION__"), "memoriter.__version__"),
    **dict.fromkeys(("Recipe", "load_recipe"),
                    "memory.recall(query, recipe=…), with a name, a .toml file or data"),
}  # fmt: skip
"""Names that people expect in the package, and what to write."""

OPEN_OPTIONS: Final = ("tenant", "embedder", "reranker", "read_only", "entities", "durability")
"""Options of `open` that people pass to a query."""
_SCOPED: Final = "scope the opened memory: memory.scoped(user=…, agent=…, session=…)"
AFTER_OPENING: Final[Mapping[str, str]] = {
    **dict.fromkeys(("user", "agent", "session", "user_id", "agent_id", "session_id"), _SCOPED),
    "recipe": "pass it with the query: memory.recall(query, recipe=…)",
}
"""Options that people pass to `open`, and where they belong."""
INSTEAD: Final[Mapping[str, Mapping[str, str]]] = {
    "cursor": dict.fromkeys(
        ("page", "page_number"),
        "pages have no numbers: cursor=… takes the cursor of the page before, offset=20 skips 20"),
    "as_of": {"at": "as_of=… asks what was true then, known_at=… what was stored then"},
    "overrides": dict.fromkeys(
        ("superseded", "include_superseded", "show_superseded", "with_superseded"),
        'use overrides={"select.superseded": "show"}'),
    "query": {
        **dict.fromkeys(("explain", "why", "with_explanation", "with_scores"),
                        "every hit has it: result[0].explanation"),
        **dict.fromkeys(("include", "with_payload", "with_vectors", "return_metadata"),
                        "leave it out: every hit has its whole record"),
        **dict.fromkeys(("offset", "skip", "page"), "results have no pages: use a larger limit"),
    },
    "metadata": dict.fromkeys(
        ("supersedes", "corrects", "invalidates", "links", "refs", "vector"),
        "only remember takes it; link relates two memories that exist"),
    "at": dict.fromkeys(("ttl", "expires", "in", "after"),
                        "pass the time as the second argument, or at=…"),
    "durability": dict.fromkeys(("in_memory", "memory", "ephemeral"),
                                'use memoriter.open(":memory:")'),
}  # fmt: skip
"""Other options that people expect, and what to do instead, by an option that the call has."""

OPERATIONS: Final[Mapping[str, str]] = {
    "count": "status", "import_file": "remember_many", "verify_receipt": "verify",
    "compare": "diff",
}  # fmt: skip
"""Methods that servers have under another name."""
COMMANDS: Final[Mapping[str, str]] = {
    "verify_store": "verify-store", "doctor": "doctor", "export": "export", "load": "import",
    "embedding": "embed", "analyzers": "analyzer", "verify": "verify RECEIPT",
    "diff": "diff BEFORE AFTER", "backup": "backup FILE", "restore": "restore FILE",
}  # fmt: skip
"""Methods that a server may lack, and their commands."""
MODES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("keyword", "keywords", "words", "lexical", "text", "fts"), "bm25"),
    **dict.fromkeys(
        ("vector", "vectors", "meaning", "embedding", "dense", "similarity"), "semantic"
    ),
    **dict.fromkeys(("rerank", "reranked"), "hybrid-rerank"),
    **dict.fromkeys(("default", "full", "all"), "hybrid"),
}
"""Names of a mode of search."""
