"""The options of the methods of `Memory`, each declared here only.

Signatures, `help()`, request models, OpenAPI and command-line options are derived from them; the
fields of a record are declared in `core.record`. A `…Kwargs` is what one method takes as `**`, an
`…Options` a group that several share. This module does not postpone annotations: the
`Option` in each is read at run time, while the quoted types are for type checkers only.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, Required, TypedDict

from memoriter.core.names import JsonObject
from memoriter.core.options import Option
from memoriter.core.record_fields import ChangeableFields, RecordFields
from memoriter.core.times import TimeLike

if TYPE_CHECKING:
    from memoriter.core.clock import Clock, Entropy
    from memoriter.embed.callable import EmbedFunction
    from memoriter.embed.port import Embedder
    from memoriter.pipeline.recipe import Recipe
    from memoriter.rerank.callable import RerankFunction
    from memoriter.rerank.port import Reranker
    from memoriter.text.entities import Extractor

Show = Literal["hide", "show"]
WhereLike = Mapping[str, object]
"""A filter as data; docs/where.md."""
_ONCE: Final = "Idempotency key: a second call with the same key changes nothing."
_KEY: Final = Option(_ONCE, str)
PLACE: Final[Mapping[str, str]] = {
    "place": "A file, or `:memory:` for a memory that ends with the process.",
    "tenant": "A hard partition with its own statistics, graph and hash chain.",
}
"""The arguments of `open` besides its options."""
ARGUMENTS: Final[Mapping[str, str]] = {
    "agent": "Only memories of this agent.",
    "user": "Only memories of this user.",
    "session": "Only memories of this session.",
    "text": "What to remember.",
    "drafts": 'Texts, or mappings of fields such as {"text": "…", "tags": ["ops"]}.',
    "on_similar": "Similar memories: keep (do not look), skip a copy, supersede or report them.",
    "similar.text": "What would be remembered.",
    "similar.limit": "How many memories at most.",
    "messages": 'Messages such as {"role": "user", "content": "…", "id": "m1", "name": "Ann"}.',
    "progress": "True shows a progress bar; a function is called with the number done so far.",
    "id": "The id of a memory, as `commit.id` and `hit.id` have it.",
    "forget.id": "The id of a memory, or a list of ids.",
    "at": "When it expires (default: now); a duration such as 30d counts from now.",
    "key": _ONCE,
    "trust": "The trust: system, learned or external.",
    "accept": "True gives the source the trust of the target; False ends the link between them.",
    "review.limit": "How many claims at most.",
    "source": "The id of the memory that the link starts at.",
    "target": "The id of the memory that the link points to.",
    "kind": "What the link means, in a word; supersedes, corrects and invalidates hide the target.",
    "query": "What to look for, in plain words.",
    "reflections.query": "What to look for; without it, all reflections.",
    "limit": "How many memories at most (default: as the recipe says).",
    "bundles.limit": "How many bundles at most (default: as the recipe says).",
    "browse.limit": "How many memories are on a page.",
    "history.limit": "How many versions at most, the newest ones.",
    "maintain.limit": "How many memories without a vector are embedded at most.",
    "wait_for.seq": "The number of an entry of the log: `seq` of a Commit, or what `seq()` gave.",
    "wait_for.timeout": "How many seconds to wait; then Unavailable is raised.",
    "offset": "How many bundles to skip.",
    "receipt": "A result, its receipt, the path of a saved receipt, or a receipt as data.",
    "sort": '"newest" or "oldest" first.',
    "cursor": "The `cursor` of the page before; None for the first page.",
    "known_at": "As the store was at this time (default: now).",
    "upto": "The last row of the versions; for earlier ones, the first row shown less one.",
    "path": "The file.",
    "where": 'Only memories that pass this filter, for example {"tags": "ops"}.',
    "format": 'The format of the file, for example jsonl; "auto" detects it.',
    "verify": "Check every record of the copy before it is kept.",
    "dry_run": "Only report what would be written.",
    "by": "An attribute to count by, for example agent or kind.",
    "repeats": "Also list memories whose texts are nearly the same.",
    "space": "The name of a vector space (default: the space in use).",
}
"""The arguments of the methods of `Memory` that are not declared below."""
AGENT_ARGUMENTS: Final[Mapping[str, str]] = {
    "agent": "The name of the agent, as memories have it.",
    "description": "What the agent does.",
    "alias": "Another name of the agent.",
    "key": _ONCE,
    "text": "Words to look for.",
    "limit": "How many agents at most.",
}
"""The arguments of the methods of `memory.agents`."""
SPACE_ARGUMENTS: Final[Mapping[str, str]] = {
    "embedder": "The name of an embedding model, for example table, or an embedder of yours.",
    "gate": "A function that returns whether to switch, for example after an evaluation.",
    "partly": "Whether to switch before every memory has a vector of this embedder.",
    "name": "The name of an analyzer.",
    "progress": ARGUMENTS["progress"],
}
"""The arguments of the methods of `memory.embedding` and `memory.analyzers`."""


class ScopeOptions(TypedDict, total=False):
    """The scope of a call within the tenant."""

    agent: Annotated[str | None, Option("Only memories of this agent.", str)]
    user: Annotated[str | None, Option("Only memories of this user.", str)]
    session: Annotated[str | None, Option("Only memories of this session.", str)]


class SelectOptions(ScopeOptions, total=False):
    """Which memories a call reads."""

    where: Annotated[
        "WhereLike | None",
        Option(
            'Only memories that pass this filter, for example {"tags": "ops"}.',
            JsonObject,
            metavar="JSON",
        ),
    ]
    tags: Annotated[
        "str | Iterable[str] | None",
        Option(
            "Only memories with at least one of these tags.",
            str | list[str],
            flag="--tag",
            metavar="TAG",
        ),
    ]
    as_of: Annotated[
        "TimeLike | None",
        Option("Only memories that were valid at this time (docs/time.md).", str, metavar="TIME"),
    ]
    known_at: Annotated[
        "TimeLike | None", Option("Search the store as it was at this time.", str, metavar="TIME")
    ]


class SearchKwargs(SelectOptions, total=False):
    """The keyword arguments of a search besides its text and limit."""

    recipe: Annotated[
        "str | Path | Recipe | Mapping[str, object] | None",
        Option(
            "A recipe: its name, or a .toml file of yours; in Python and over HTTP also an object.",
            str | JsonObject,
        ),
    ]
    now: Annotated[
        "TimeLike | None", Option("Answer as if this were the current time.", str, metavar="TIME")
    ]
    vector: Annotated[
        "Sequence[float] | None", Option("Your own vector of the question.", list[float], flag=None)
    ]
    overrides: Annotated[
        "Mapping[str, object] | None",
        Option(
            "Change a value of the recipe for this call, for example lanes.words.k1=1.5.",
            JsonObject,
            flag="--override",
            metavar="PATH=VALUE",
        ),
    ]
    require: Annotated[
        "str | Iterable[str] | None",
        Option("Fail if this lane of the recipe cannot run.", str | list[str], metavar="LANE"),
    ]
    mode: Annotated[str | None, Option("A mode of the recipe: a named set of its lanes.", str)]
    aliases: Annotated[
        "Mapping[str, str | Iterable[str]] | None",
        Option(
            "Replace a word of the query by other words, in recipes that support aliases.",
            dict[str, str | list[str]],
            flag="--alias",
            metavar="WORD=OTHER",
        ),
    ]
    seeds: Annotated[
        "str | Iterable[str] | Mapping[str, str | Iterable[str]] | None",
        Option(
            "Ids of memories that graph lanes start from.",
            str | list[str] | dict[str, str | list[str]],
            flag="--seed",
            metavar="ID",
        ),
    ]
    lists: Annotated[
        "Mapping[str, object] | None",
        Option(
            "Your own rankings to fuse with the lanes, by label. A ranking is ids with scores, or"
            " the name of an attribute to rank by, largest value first.",
            JsonObject,
            flag="--list",
            metavar="LABEL=ID:SCORE,…",
        ),
    ]
    cycle: Annotated[
        int | None, Option("Current value of your own time counter, for recipes that use one.", int)
    ]
    min_relevance: Annotated[
        float | None, Option("Only memories with at least this relevance (0 to 1).", float)
    ]
    budget_tokens: Annotated[
        int | None, Option("Only as many memories as fit into this many tokens.", int)
    ]
    budget_chars: Annotated[
        int | None, Option("Only as many memories as fit into this many characters.", int)
    ]


class QuestionOptions(SearchKwargs, total=False):
    """The keyword arguments of a search with its limit, for hooks, HTTP and MCP."""

    limit: Annotated[int | None, Option("How many memories at most.", int)]


class BrowseKwargs(SelectOptions, total=False):
    """The keyword arguments of `browse` besides sort, cursor and limit."""

    archived: Annotated[Show, Option("Archived memories: show or hide (default).", Show, "hide")]
    expired: Annotated[Show, Option("Expired memories: show or hide (default).", Show, "hide")]
    superseded: Annotated[
        Show, Option("Superseded memories: show (default) or hide.", Show, "show")
    ]
    offset: Annotated[
        int, Option("How many memories to skip, counted from the cursor if there is one.", int, 0)
    ]


class WriteOptions(TypedDict, total=False):
    """The keyword arguments of `remember` besides the fields of a record."""

    id: Annotated[str | None, Option("An id of your own (default: a new UUIDv7).", str)]
    key: Annotated[str | None, _KEY]
    vector: Annotated["Sequence[float] | None", Option("Its vector.", list[float], flag=None)]
    links: Annotated[
        "Iterable[Mapping[str, object]] | None",
        Option("Links to memories: objects with `target` and `kind`.", list[JsonObject], flag=None),
    ]
    supersedes: Annotated[
        "str | Iterable[str] | None",
        Option("The id of a memory that this one replaces.", str | list[str], metavar="ID"),
    ]
    corrects: Annotated[
        "str | Iterable[str] | None",
        Option(
            "The id of a memory that this one corrects and replaces.", str | list[str], metavar="ID"
        ),
    ]
    invalidates: Annotated[
        "str | Iterable[str] | None",
        Option("The id of a memory that this one makes untrue.", str | list[str], metavar="ID"),
    ]


class RememberKwargs(RecordFields, WriteOptions, total=False):
    """The keyword arguments of `remember` besides its text."""


class DraftFields(RememberKwargs, total=False):
    """One of the memories of `remember_many`: its text and the keyword arguments of `remember`."""

    text: Required[Annotated[str, Option("What to remember.", str)]]


class UpdateKwargs(ChangeableFields, total=False):
    """The keyword arguments of `update` besides the id; None removes an optional field."""

    text: Annotated[str | None, Option("The new text.", str)]
    key: Annotated[str | None, _KEY]


class LinkKwargs(TypedDict, total=False):
    """The keyword arguments of `link` besides the two memories and the kind."""

    weight: Annotated[
        float, Option("The weight of the link in graph lanes (docs/graph.md).", float, 1.0)
    ]
    valid_from: Annotated[
        "TimeLike | None",
        Option("The time from which the link is true (default: no start).", str, metavar="TIME"),
    ]
    valid_until: Annotated[
        "TimeLike | None",
        Option("The time until which the link is true (default: no end).", str, metavar="TIME"),
    ]
    metadata: Annotated["Mapping[str, object] | None", Option("Fields of your own.", JsonObject)]
    key: Annotated[str | None, _KEY]


class AgentFields(TypedDict, total=False):
    """The fields of an agent in the registry."""

    display_name: Annotated[str | None, Option("The name to show to people.", str, flag="--name")]
    owner: Annotated[str | None, Option("The person or team responsible for the agent.", str)]
    description: Annotated[str | None, Option("What the agent does.", str)]
    aliases: Annotated[
        "str | Iterable[str] | None", Option("The agent's other names.", str | list[str], flag=None)
    ]
    key: Annotated[str | None, _KEY]


class ForgetKwargs(TypedDict, total=False):
    """The keyword arguments of `forget` besides ids."""

    where: Annotated[
        "WhereLike | None",
        Option(
            'Forget all memories that pass this filter, for example {"user": "ann"}.',
            JsonObject,
            metavar="JSON",
        ),
    ]
    now: Annotated[
        bool, Option("Wait until the memories are erased from all files: true or false.", bool)
    ]
    dry_run: Annotated[bool, Option("Only list what would be forgotten; change nothing.", bool)]
    keep_reflections: Annotated[
        bool,
        Option(
            "Keep the reflections made from the forgotten memories; a reflection may quote a"
            " forgotten memory.",
            bool,
        ),
    ]
    key: Annotated[str | None, _KEY]


class OpenOptions(TypedDict, total=False):
    """The keyword arguments of `open` besides the place and the tenant."""

    read_only: Annotated[bool, Option("Refuse every write.", default=False)]
    durability: Annotated[
        Literal["full", "fast"],
        Option(
            '"full": a write is on disk when the call returns; "fast": a power cut may lose the'
            " commits since the last checkpoint, but damages nothing.",
            default="full",
        ),
    ]
    embedder: Annotated[
        "str | Embedder | EmbedFunction | Sequence[str | Embedder | EmbedFunction] | None",
        Option(
            'What computes vectors: "memory-en" (the packaged model), "table" (the packaged'
            " table of words, light and less able), None (no vectors),"
            ' "given:<n>" (your own vectors), a local model, a server, a function, or an'
            " object of yours (docs/embedders.md). In a list, writes embed with the first,"
            " `maintain` with the others; searches use all. Default: the embedder that the store"
            ' was made with or that was promoted last; a new store gets "memory-en".',
            default="auto",
        ),
    ]
    embed_timeout: Annotated[
        float | tuple[float, float],
        Option(
            "Seconds to wait for your embedder; a pair gives those for writes and for queries.",
            default=(30, 5),
        ),
    ]
    reranker: Annotated[
        "str | Reranker | RerankFunction | None",
        Option(
            "What reorders the best candidates: a local cross-encoder, a server, a language"
            " model, a function, or an object of yours (docs/rerankers.md). With a reranker,"
            " `recall` refuses recipes that use none. `keywords`, `bundles` and `reflections`"
            " never use the reranker; their answers say so."
        ),
    ]
    entities: Annotated[
        "Literal['given', 'rules'] | Extractor",
        Option(
            'How to find the entities of a memory that is written without any: "given" (find'
            ' none), "rules" (find capitalised words and the like), or a function that takes a'
            " text and returns names.",
            default="given",
        ),
    ]
    maintenance: Annotated[
        Literal["auto", "manual"],
        Option(
            '"auto": upkeep runs in the background; "manual": it runs only when you call'
            " `maintain`.",
            default="auto",
        ),
    ]
    flush_rows: Annotated[
        int, Option("How many new memories to collect before the index is written.", default=8192)
    ]
    horizon_days: Annotated[
        float,
        Option("How many days the earlier versions of memories stay searchable.", default=30.0),
    ]
    memory_limit: Annotated[
        int, Option("How many bytes of the index may stay in memory.", default=2 * 1024**3)
    ]
    filter_steps: Annotated[
        int, Option("How many steps the filter of a search may take.", default=1_000_000)
    ]
    clock: Annotated["Clock", Option("A clock of your own, for tests.")]
    entropy: Annotated["Entropy", Option("A source of randomness of your own, for tests.")]
