"""MCP servers as toolsets: reached, listed, watched, restarted, and asked on behalf of clients."""
