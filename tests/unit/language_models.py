"""Language models that answer as a test wants."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from tests.unit.servers import (
    Behaviour,
)


def data_of(body: dict[str, Any]) -> dict[str, Any]:
    """The JSON that stands between the marks of a prompt."""
    (inside,) = re.findall(r"<data>(.*)</data>", body["messages"][1]["content"])
    return cast("dict[str, Any]", json.loads(inside))


def writes(text: str, **more: Any) -> Behaviour:
    """A server whose model replies with a text."""
    message = {"role": "assistant", "content": text}
    answer = {"id": "1", "choices": [{"index": 0, "message": message, **more}]}
    return lambda to, _: to.reply(200, json.dumps(answer).encode())
