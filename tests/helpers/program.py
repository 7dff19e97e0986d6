"""The command line program, run as users run it."""

import os
import subprocess
import sys


def hipep(*arguments, prelude="", **environment):
    """Run the program after the lines of the prelude; its exit status and output."""
    words = ["hipep", *map(str, arguments)]
    code = (
        f"import sys; sys.argv = {words!r}\n{prelude}\nfrom hipep.cli import main\nsys.exit(main())"
    )
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )
