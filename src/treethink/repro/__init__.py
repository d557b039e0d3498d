"""Experiments and the paper: run them, keep their records, draw its figures, time everything."""
