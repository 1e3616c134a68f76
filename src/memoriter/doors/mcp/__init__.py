"""The MCP server: operations as tools of the Model Context Protocol, for language models."""
