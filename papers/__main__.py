"""``python -m papers [NAME]``: compute what the papers claim, or list it."""

import sys

import papers

if __name__ == "__main__":
    if len(sys.argv) > 1:
        try:
            papers.run(sys.argv[1], sys.argv[2:])
        except ValueError as error:
            sys.exit(str(error))
    else:
        for name, about in papers.names().items():
            print(f"{name:<14}{about}")
