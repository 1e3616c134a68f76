"""The base classes of everything that a recipe declares: frozen pydantic models.

Every option carries its description (`option`), which plans, docs and comparisons of recipes print.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import Any, ClassVar, Self, cast

from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

from memoriter.core.explanation import Explanation
from memoriter.core.shown import plain, shown
from memoriter.text.figures import NodeText, node_text


class Spec(BaseModel):
    """A frozen, strict model; an unknown key is an error that names its path."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True
    )

    def __repr__(self) -> str:
        pairs = ", ".join(f"{key} {value}" for key, value in self)
        return shown(type(self).__name__, plain(pairs, 100))

    def __str__(self) -> str:
        return repr(self)

    def shows(self) -> dict[str, object]:
        """What plans print of it: every option with a value."""
        return dict(self._shown)

    @cached_property
    def _shown(self) -> dict[str, object]:
        options = self.model_dump(mode="json", by_alias=True, exclude={"kind", "enabled"})
        return {key: value for key, value in options.items() if value is not None}

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other options; what was derived from them is derived anew."""
        copied = super().model_copy(update=update, deep=deep)
        for name in vars(copied).keys() - type(copied).model_fields.keys():
            del vars(copied)[name]
        return copied


class RecipePart(Spec):
    """A part of a recipe that is selected by `kind`: a lane, a fusion, a boost, an ordering."""

    about: ClassVar[str] = ""
    """What it does, in one line for people."""
    row_details: ClassVar[tuple[str, ...]] = ()
    """Those of its `details` that are rows: an explanation has the ids of their records."""
    whole_details: ClassVar[tuple[str, ...]] = ()
    """Those of its `details` that are integers."""
    fact_words: ClassVar[Mapping[str, str]] = {}
    """What each fact, and each number without facts, of its explanations means, in plain words."""

    @property
    def takes(self) -> tuple[str, ...]:
        """Those of `aliases` and `cycle` that it reads of a query; the others are refused."""
        return ()

    @classmethod
    @cache
    def kind_name(cls) -> str:
        """The only value that its field `kind` accepts."""
        annotation: Any = cls.model_fields["kind"].annotation
        return str(annotation.__args__[0])

    def node_text(self, node: Explanation) -> NodeText:
        """A node of its explanations as text: by default the label and all facts."""
        return node_text(node)

    def picture(self, node: Explanation) -> Mapping[str, object]:
        """What a drawing shows beside a number, in a shape of `core.picture`; empty if nothing."""
        del node
        return {}


def option(
    about: str,
    default: Any = ...,
    *,
    values: Mapping[Any, str] | Callable[[str], str] | None = None,
    always: bool = False,
    **rules: Any,
) -> Any:
    """A pydantic field with a description, for an option of a recipe part.

    `values` describes single values: a table, or a function if other packages can add values. With
    `always`, recipe texts show the option even if it has its default. `rules` are pydantic's: `ge`,
    `le`, `min_length`, `default_factory`.
    """
    if "default_factory" not in rules:
        rules["default"] = default
    extra: Any = {"values": values or {}, "always": always}
    return Field(description=about, json_schema_extra=extra, **rules)


def options_of(part: type[BaseModel]) -> dict[str, FieldInfo]:
    """The options of a part, by the name that a recipe gives them."""
    fields = part.model_fields.items()
    return {field.alias or name: field for name, field in fields if name != "kind"}


def meaning_of(part: type[BaseModel] | None, key: str) -> str:
    """The description of an option; its name if it has none."""
    field = None if part is None else options_of(part).get(key)
    return (field.description if field is not None else None) or key.replace("_", " ")


def worded(part: type[BaseModel] | None, key: str, value: object = None) -> Mapping[object, str]:
    """Descriptions of an option's values; if a function gives them, of `value` only."""
    values = _extra(part, key).get("values", {})
    if callable(values):
        return {value: str(values(value))} if isinstance(value, str) else {}
    return cast("Mapping[object, str]", values)


def always_shown(part: type[BaseModel] | None, key: str) -> bool:
    """Whether recipe texts show an option even if it has its default."""
    return bool(_extra(part, key).get("always"))


def _extra(part: type[BaseModel] | None, key: str) -> Mapping[str, object]:
    field = None if part is None else options_of(part).get(key)
    extra = None if field is None else field.json_schema_extra
    return cast("Mapping[str, object]", extra) if isinstance(extra, dict) else {}
