"""The HTTP server: REST, JSON-RPC, metrics, and the mounted MCP server."""
