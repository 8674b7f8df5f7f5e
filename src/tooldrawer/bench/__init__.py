"""Measure speed, memory and prompt cost, each against a baseline of the same run."""
