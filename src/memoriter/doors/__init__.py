"""The ways into the engine: command line, HTTP server, MCP server, recall hook."""
