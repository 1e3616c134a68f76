"""The base of everything a recipe declares: closed, frozen, checked before it runs."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Spec(BaseModel):
    """Data with a kind; an unknown key is an error that names its path."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False, allow_inf_nan=False)
