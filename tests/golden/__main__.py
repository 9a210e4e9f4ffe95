"""`python -m tests.golden DIR...` runs every golden file in the named folders."""

import sys

from tests.golden.runner import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
