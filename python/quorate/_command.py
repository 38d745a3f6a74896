"""The command `quorate`, as the package installs it."""

import signal
import sys


def main() -> int:
    """Runs the command line and returns its exit code."""
    from quorate import _core

    # The command handles Ctrl-C itself, and only where nobody else does.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.run_command(["quorate", *sys.argv[1:]])
