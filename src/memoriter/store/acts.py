"""What the acts of a batch name: records, and idempotency keys. Used by `sequence`."""

from __future__ import annotations

from memoriter.core.batch import Act, Embed, Forget, Key, Link, Put, RegisterAgent


def own_id(act: Act) -> str:
    """The id of the record that an act names itself."""
    match act:
        case Put() | Forget():
            return act.id
        case Link():
            return act.source
        case RegisterAgent():
            return act.agent
        case Embed():
            return ""


def key_of(act: Act) -> Key | None:
    """The idempotency key of an act, if it has one."""
    return None if isinstance(act, Embed) else act.key


def named_ids(acts: tuple[Act, ...]) -> list[str]:
    """The ids of every record that the acts name, once each."""
    ids: dict[str, None] = {}
    for act in acts:
        match act:
            case Put():
                ids[act.id] = None
                for edge in act.edges:
                    ids[edge.target] = None
            case Link():
                ids.update(dict.fromkeys((act.source, act.edge.target)))
            case Forget():
                ids[act.id] = None
            case RegisterAgent() | Embed():
                pass
    return list(ids)
