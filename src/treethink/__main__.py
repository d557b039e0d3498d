"""Run the command `treethink` as `python -m treethink`."""

from treethink_command import main

main()
