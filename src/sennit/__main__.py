"""``python -m sennit`` is the ``sennit`` command."""

import sys

from sennit.cli import main

if __name__ == "__main__":
    sys.exit(main())
