"""Our tools in each provider's words."""
