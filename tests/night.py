"""Whether this is the long run (`make night`): counts are short by day and long at night."""

from __future__ import annotations

import os
from typing import Final

NIGHT: Final = os.environ.get("MEMORITER_NIGHT") == "1"
