"""Operators and attribute names of other query languages, mapped to those of a `where`.

Nothing here is accepted as input: `core.where_mistakes` and `core.other_words` use the tables for
error messages that name the right word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from memoriter.core.attributes import ATTRIBUTES, GROUPS, OPERATORS
from memoriter.core.lazy_pattern import lazy_pattern

_OPERATORS: Final[Mapping[str, tuple[str, ...]]] = {
    "eq": ("=", "==", "===", "is", "equals", "equal", "equal_to"),
    "in": ("one_of", "is_in", "isin"),
    "any": (
        "contains", "contain", "has", "have", "includes", "include", "contains_any", "has_any",
        "any_of", "some", "overlap", "overlaps", "intersects", "elem_match",
    ),
    "all": ("contains_all", "has_all", "all_of", "superset"),
    "prefix": ("startswith", "starts_with", "begins_with", "like"),
    "prefix_fold": ("ilike", "istartswith"),
    "gt": (">", "after", "greater_than", "more_than", "above"),
    "gte": (">=", "ge", "since", "from", "min", "at_least", "on_or_after"),
    "lt": ("<", "before", "until", "less_than", "below", "older_than"),
    "lte": ("<=", "le", "max", "to", "at_most"),
    "not eq": ("!=", "<>", "ne", "neq", "not", "is_not", "not_eq", "not_equal", "not_equals"),
    "not in": (
        "nin", "not_in", "notin", "none_of", "not_any", "not_contains", "none", "exclude",
        "excludes", "excluding", "without", "has_none", "not_has", "not_any_of",
    ),
    "between": ("between", "range"),
    "recent": (
        "last", "within", "newer_than", "past", "in_last", "in_the_last", "within_last",
    ),
    "exists": ("present", "is_set", "not_null"),
    "missing": ("is_null", "isnull", "null", "missing", "is_missing", "not_exists"),
    "match": (
        "regex", "regexp", "matches", "match", "~", "glob", "endswith", "ends_with", "suffix",
        "substring", "search", "icontains",
    ),
}  # fmt: skip
_MEANINGS: Final = {word: meaning for meaning, words in _OPERATORS.items() for word in words}
_OWN: Final = frozenset(word for words in OPERATORS.values() for word in words)
_NO_KEY: Final = frozenset({
    "ne", "neq", "nin", "not", "not_in", "not_eq", "contains", "like", "ilike", "startswith",
    "starts_with", "ge", "le", "between", "regex",
})  # fmt: skip
"""Operators that are unlikely as metadata keys; a key of that name needs the dotted form."""

_ATTRIBUTES: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("_id", "ids", "uuid", "memory_id", "record_id", "doc_id", "document_id"),
    "text": ("content", "body", "message", "memory", "document", "page_content"),
    "title": ("name", "subject", "headline"),
    "kind": ("type", "category", "class", "record_type"),
    "tags": ("tag", "label", "labels", "keyword", "keywords", "topic", "topics", "categories"),
    "concepts": ("concept",),
    "entities": ("entity", "people", "persons"),
    "importance": ("salience", "weight", "significance"),
    "confidence": ("certainty", "probability"),
    "created": (
        "created_at", "created_on", "create_time", "timestamp", "time", "date", "datetime", "ts",
        "when", "added", "added_at",
    ),
    "committed": (
        "committed_at", "updated", "updated_at", "modified", "modified_at", "last_updated",
        "written", "written_at", "stored_at",
    ),
    "occurred": ("occurred_at", "happened", "happened_at", "event_time", "event_date"),
    "valid_from": ("valid_since", "start", "starts_at"),
    "valid_until": ("valid_to", "valid_till", "end", "ends_at"),
    "expires": ("expires_at", "expiry", "expiration", "ttl"),
    "user": ("user_id", "user_name", "username", "owner", "owner_id"),
    "agent": ("agent_id", "agent_name", "app_id", "bot"),
    "session": (
        "session_id", "thread", "thread_id", "conversation", "conversation_id", "chat_id", "run_id",
    ),
    "source_episode": ("episode", "episode_id"),
    "source.who": ("who", "author", "speaker", "sender", "source"),
    "source.channel": ("channel", "room"),
    "source.path": ("path", "file", "filename", "file_name", "url", "uri"),
    "trust": ("trust_level", "provenance"),
    "archived": ("deleted", "hidden"),
    "pinned": ("pin", "starred", "favorite", "favourite"),
    "position": ("row", "seq", "index", "ordinal"),
    "refs": ("ref", "references"),
}  # fmt: skip
_NAMES: Final = {word: name for name, words in _ATTRIBUTES.items() for word in words}
_METADATA: Final = frozenset({"meta", "payload", "attributes", "properties", "extra", "custom"})
_GROUPS: Final[Mapping[str, str]] = {
    **GROUPS,
    "must": "all", "filter": "all", "&&": "all", "&": "all", "every": "all", "all_of": "all",
    "should": "any", "||": "any", "|": "any", "some": "any", "any_of": "any",
    "not": "not", "!": "not", "must_not": "not", "nor": "not", "none": "not", "none_of": "not",
}  # fmt: skip
NOT_KEPT: Final[Mapping[str, str]] = {
    "score": 'a score belongs to an answer: recall(…, overrides={"final.min_score": 0.5})',
    "rank": "a rank belongs to an answer: recall(…, limit=3)",
    "similarity": 'it belongs to an answer: recall(…, overrides={"final.min_score": 0.5})',
    "query": "what you look for is the first argument of recall",
    "limit": "the number of hits is an argument of its own: recall(…, limit=3)",
    "as_of": "it is an argument of its own: recall(…, as_of=…)",
    "known_at": "it is an argument of its own: recall(…, known_at=…)",
    "tenant": "the tenant is chosen when the memory is opened",
    "links": "links are followed by graph lanes, see docs/graph.md",
}
"""Names that are not attributes of a memory, and what to write instead."""


def snake(word: str) -> str:
    """Convert a word to snake_case, without a leading `$`.

    >>> snake("$startsWith"), snake("userId"), snake("not in"), snake("NIN")
    ('starts_with', 'user_id', 'not_in', 'nin')
    """
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", word.strip().lstrip("$"))
    return re.sub(r"[\s-]+", "_", split).lower()


def operator_meant(word: str) -> str | None:
    """Our operator for a foreign word, or a form that we write in another way; None if unknown.

    Such forms are `not eq`, `not in`, `between`, `recent`, `missing` and `match`.
    """
    plain = snake(word)
    return plain if plain in _OWN else _MEANINGS.get(plain)


def no_key(word: str) -> bool:
    """Whether a word inside a nested object is a foreign operator rather than a metadata key."""
    foreign = word.startswith("$") or not any(map(str.isalnum, word)) or word in _NO_KEY
    return foreign and operator_meant(word) is not None


_KEY_FORMS: Final = (
    lazy_pattern(r"(?P<name>.+?)__(?P<op>.+)"),  # as in Django
    lazy_pattern(r"(?P<name>[\w.]+?)\s*(?P<op>[=!<>]+)"),
    lazy_pattern(r"(?P<name>.+?)[.\s](?P<op>[^.]+)"),
    lazy_pattern(
        r"(?P<name>.+)_(?P<op>gt|gte|lt|lte|ge|le|ne|after|before|since|until|not|min|max)"
    ),
    lazy_pattern(r"(?P<op>min|max|not|exclude)_(?P<name>.+)"),
)
"""Keys that hold an attribute and an operator."""


def key_meant(key: str) -> tuple[str, str] | None:
    """The attribute and the operator in a key such as `importance__gt`; None if it holds none.

    >>> key_meant("importance__gt"), key_meant("created_at >="), key_meant("min_importance")
    (('importance', 'gt'), ('created', 'gte'), ('importance', 'gte'))
    >>> key_meant("project"), key_meant("created_at")
    (None, None)
    """
    for form in _KEY_FORMS:
        if match := form.fullmatch(key.strip()):
            attribute, operator = attribute_meant(match["name"]), operator_meant(match["op"])
            if attribute is not None and operator is not None:
                return attribute, operator
    return None


_DURATION: Final = lazy_pattern(
    r"(?i)(?:(?:the )?(?:last|past|previous|(?P<ahead>next|in)) )?(?P<count>\d{1,6})?\s*"
    r"(?P<unit>second|sec|minute|min|hour|day|week|month|year|[smhdwy])s?(?: ago)?"
)
_DAYS: Final = {"month": 30}
"""The days of units that our durations do not have."""


_DAY_WORDS: Final = {"yesterday": "1d", "tomorrow": "+1d"}


def duration_meant(text: str) -> str | None:
    """The duration that a text in words means, as `7d`; None if it means none.

    >>> [duration_meant(each) for each in ("7 days", "2h ago", "last week", "in 1 month", "soon")]
    ['7d', '2h', '1w', '+30d', None]
    """
    if (day := text.strip().lower()) in _DAY_WORDS:
        return _DAY_WORDS[day]
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        return None
    count, unit = int(match["count"] or 1), match["unit"].lower()
    length = f"{count * _DAYS[unit]}d" if unit in _DAYS else f"{count}{unit[0]}"
    return f"+{length}" if match["ahead"] else length


def attribute_meant(name: str) -> str | None:
    """Our attribute for a name of another system; None if unknown."""
    plain = snake(name)
    return plain if plain in ATTRIBUTES else _NAMES.get(plain)


def metadata_meant(name: str) -> str | None:
    """The path below metadata, if the name starts with another word for it; else None."""
    head, _, rest = name.partition(".")
    return rest if snake(head) in _METADATA else None


def group_meant(word: str) -> str | None:
    """`all`, `any` or `not` for a foreign word; None if unknown."""
    return _GROUPS.get(snake(word))
