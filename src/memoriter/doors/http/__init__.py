"""The memory over HTTP: REST, JSON-RPC and what is mounted beside them."""
