"""`python -m treethink` is the command `treethink`."""

from treethink_command import main

main()
