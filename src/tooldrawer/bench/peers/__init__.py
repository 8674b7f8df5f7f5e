"""Programs that the gateway is measured with and against; each runs in a process of its own."""
