"""Programs that use MCP servers: where each keeps its list, and how it is written there."""
