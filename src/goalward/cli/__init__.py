"""The command line: one file per verb, errors a person can act on, no traceback."""

import os
import sys


def main() -> None:
    """Run the command line; the exit status is 0, 1 (an error, explained) or 2 (wrong usage)."""
    try:
        # Inside, so that an interrupt while libraries load is as quiet as a later one.
        from goalward.cli.app import run

        run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output went away (| head); keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
