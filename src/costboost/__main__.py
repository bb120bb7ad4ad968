"""``python -m costboost``: the command line."""

import sys

from costboost.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
