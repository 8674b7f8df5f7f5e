"""Measure speed, memory, prompt cost and what is found, each against a baseline of the same run."""
