"""Five toolsets that work on local state, and a scripted model that uses them."""
