"""Plots of records: one function for each kind of figure."""
