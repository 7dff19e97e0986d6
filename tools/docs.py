"""Write the pages of docs/ that are derived from code: `python tools/docs.py`."""

from __future__ import annotations

from pathlib import Path

from hipep import options
from hipep.cli import ops

DOCS = Path(__file__).resolve().parents[1] / "docs"

OPERATORS = """\
# Operators

Derived from the lowering table by `python tools/docs.py`; `hipep ops` prints it for an
installation. *opset* is the range of definitions that are handled, each named by the opset in which
it appeared: a model of a newer opset still uses them. *dtypes* are those of the first input.
Tensors have up to 8 axes. What a row declines besides, it declines with a reason that
`hipep inspect MODEL` shows.

{table}
"""

OPTIONS = """\
# Options

Derived from the table of options by `python tools/docs.py`. An option is a keyword argument of
`hipep.InferenceSession` and `hipep.session_options`. An argument wins over options that session
options already carry, those over the environment variable, and that over the default. A name or
value that does not fit raises `OptionError`, with the nearest match.

{table}

A session whose device was not named and found no GPU takes `placement="auto"` in place of `"all"`.
`strict=True` needs `"all"`. `host_mode` and `host_memory` act on the host device only; the faithful
modes have to be built in:
`pip install --config-settings=setup-args=-Dhost_modes=serial,faithful32,faithful64 .`
"""


def pages() -> dict[str, str]:
    """Return the text of each generated page by its file name."""
    return {
        "operators.md": OPERATORS.format(table=ops.markdown(ops.rows())),
        "options.md": OPTIONS.format(table=options.markdown()),
    }


if __name__ == "__main__":
    for name, text in pages().items():
        (DOCS / name).write_text(text)
        print(DOCS / name)
