"""What can I do with a memory? The façade, and the only room that opens stores and models."""

from recollect.memory.browsing import Page
from recollect.memory.facade import Memory, Report
from recollect.memory.opening import open_memory

__all__ = ["Memory", "Page", "Report", "open_memory"]
