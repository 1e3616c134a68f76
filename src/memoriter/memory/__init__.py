"""What can I do with a memory? The façade, and the only room that opens stores and models."""

from memoriter.memory.browsing import Page
from memoriter.memory.facade import Memory, Report
from memoriter.memory.opening import open_memory

__all__ = ["Memory", "Page", "Report", "open_memory"]
