"""Servers that mean harm, and what becomes of everybody else."""
