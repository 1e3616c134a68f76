"""The options of writing verbs that are about more than the fields of one record.

Declared as those in `memory.options` are; this module does not postpone annotations either.
"""

from collections.abc import Iterable
from typing import Annotated, TypedDict

from memoriter.core.options import Option


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
