"""One MCP server in front of all of them."""
