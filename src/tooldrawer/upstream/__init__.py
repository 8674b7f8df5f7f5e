"""MCP servers as toolsets. So far: how to reach one."""
