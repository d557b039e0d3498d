"""Where the command `treethink` begins: before anything of the package is imported.

That takes some tenths of a second, in which Ctrl-C would show a traceback. It is a package of its
own because importing any part of `treethink` imports `treethink` first.
"""

import sys


def main() -> None:
    """Run the command line; Ctrl-C is one line and exit code 130 from the first moment on."""
    try:
        from treethink.cli import main as run

        run()
    except KeyboardInterrupt:
        below = "\n" if sys.stderr.isatty() else ""  # the terminal has written ^C there
        print(f"{below}treethink: interrupted", file=sys.stderr)
        sys.exit(130)
