"""A learning session in a terminal: the live display, the final report, Ctrl-C."""
