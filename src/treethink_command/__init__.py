"""The entry point of the command `treethink`; it imports the package only when it is called.

The import takes some tenths of a second, in which Ctrl-C would print a traceback. This is a package
of its own because importing any part of `treethink` imports `treethink` first.
"""

import os
import sys


def main() -> None:
    """Run the command line; Ctrl-C prints one line and exits with 130, even during the import."""
    # Python would search the working folder first in the processes that the command starts.
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        from treethink.cli import main as run

        run()
    except KeyboardInterrupt:
        newline = "\n" if sys.stderr.isatty() else ""  # the terminal has echoed ^C
        print(f"{newline}treethink: interrupted", file=sys.stderr)
        sys.exit(130)
