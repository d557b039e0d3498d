"""`python -m treethink` is the command `treethink`."""

from treethink.cli import main

main()
