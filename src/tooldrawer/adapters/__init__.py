"""A session inside somebody else's agent: one module for each framework, imported by its name."""
