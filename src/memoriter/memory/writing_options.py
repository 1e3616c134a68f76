"""The options of writing verbs that are about more than the fields of one record.

Declared as those in `memory.options` are; this module does not postpone annotations either.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, TypedDict

from memoriter.core.options import Option
from memoriter.memory.options import Show

if TYPE_CHECKING:
    from memoriter.write.reflect import Algorithm, Summary


class MessagesKwargs(TypedDict, total=False):
    """The keyword arguments of `remember_messages` besides the messages."""

    session: Annotated[str | None, Option("The conversation that the messages belong to.", str)]
    agent: Annotated[str | None, Option("The agent that took part in the conversation.", str)]
    user: Annotated[str | None, Option("The user that took part in the conversation.", str)]
    channel: Annotated[str | None, Option("The channel that the messages came through.", str)]
    trust: Annotated[
        str | None,
        Option(
            "The trust of the messages (default: learned); messages of tools are always external.",
            str,
        ),
    ]
    tags: Annotated[
        "str | Iterable[str] | None", Option("Labels of the messages.", str | list[str])
    ]
    facts: Annotated[
        bool,
        Option(
            "Also remember facts that the configured language model finds in new messages.",
            bool,
            default=False,
        ),
    ]


class ReflectKwargs(TypedDict, total=False):
    """The keyword arguments of `reflect` besides `dry_run`."""

    algorithm: Annotated[
        "Algorithm",
        Option(
            'How to cluster: "propagation", "agglomerative" or "linked" (docs/reflection.md).', str
        ),
    ]
    similarity: Annotated[
        float,
        Option(
            "Minimum cosine of two similar memories (default: 0.7; give less if no cluster is"
            ' found). The algorithm "linked" does not use it.',
            float,
        ),
    ]
    min_size: Annotated[int, Option("Minimum number of memories in a cluster (default: 3).", int)]
    max_size: Annotated[int, Option("Maximum number of memories in a cluster (default: 200).", int)]
    kinds: Annotated[
        "Sequence[str] | None",
        Option("Kinds of memories to cluster (default: all).", list[str], flag="--kind"),
    ]
    archived: Annotated[
        Show,
        Option(
            "Archived memories: cluster them too (show) or leave them out (hide; default).", Show
        ),
    ]
    candidates: Annotated[
        int, Option("How many of the newest memories to cluster (default: 5000).", int)
    ]
    cycle: Annotated[
        int | None,
        Option("Current value of your own time counter, stored with each reflection.", int),
    ]
    summary: Annotated[
        "Summary | None",
        Option(
            "A function that takes the members of a cluster and returns the summary of its"
            " reflection (default: keywords)."
        ),
    ]
