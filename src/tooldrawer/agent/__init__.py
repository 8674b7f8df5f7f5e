"""The terminal agent: a model, its tools and a person, in one conversation."""
