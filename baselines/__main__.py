"""The entry of the command line: ``python -m baselines``, also installed as ``pa-bench``.

``pa-bench`` imports only those files and modules from the current folder that its arguments name. With ``-m``, Python
itself searches the current folder first while it imports this package.
"""

import os
import sys

if __name__ == "__main__" and sys.path[0] == os.getcwd() != os.path.dirname(os.path.dirname(__file__)):
    del sys.path[0]  # `python -m` puts the current folder first, where any file could pose as a library

from baselines.cli.commands import app


def main() -> None:
    """Run the command that the arguments name."""
    os.environ["PYTHONSAFEPATH"] = "1"  # for the processes that play, which would search the current folder first
    app()


if __name__ == "__main__":
    main()
