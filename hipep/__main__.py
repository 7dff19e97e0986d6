"""``python -m hipep`` is the command line program ``hipep``."""

from hipep.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
