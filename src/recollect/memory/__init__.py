"""What can I do with a memory? The façade, and the only room that opens stores and models."""

from recollect.memory.facade import Memory, Page, Report
from recollect.memory.opening import open_memory

__all__ = ["Memory", "Page", "Report", "open_memory"]
