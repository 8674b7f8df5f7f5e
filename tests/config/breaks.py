"""A module that cannot be imported."""

raise RuntimeError("no lamp\nin the cellar")
