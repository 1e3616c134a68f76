"""Memoriter behind the interfaces of other frameworks, one module each.

Nothing here is imported unless somebody asks for it: `memoriter.integrations.langgraph` needs
langgraph, and so on; each has an extra of its name. An adapter takes an opened memory: its tenant
and scope are those of that memory, whatever a caller of the framework passes.
"""
