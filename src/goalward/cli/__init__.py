"""The command line: one file per verb, errors a person can act on, no traceback."""

import os
import sys


def main() -> None:
    """Run the command line; the exit status is 0, 1 (an error, explained) or 2 (wrong usage).

    Also 3 where `goalward compare --fail-if-worse` finds it worse.
    Or, as shells count, 130 after Ctrl-C, 143 after SIGTERM, 141 if nobody reads the output.
    """
    try:
        # Inside, so that an interrupt while libraries load is as quiet as a later one.
        from goalward.stops import listen_for_stops

        listen_for_stops()
        from goalward.cli.app import run

        run()
    except KeyboardInterrupt as error:
        from goalward.stops import Stopped

        is_term = isinstance(error, Stopped)
        print("stopped by SIGTERM" if is_term else "interrupted", file=sys.stderr)
        sys.exit(143 if is_term else 130)
    except BrokenPipeError:
        # The reader of our output went away (| head); keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
