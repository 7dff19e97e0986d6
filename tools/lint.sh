#!/bin/bash
# Check style and types; the tools come with the extra "lint".
set -euo pipefail
cd "$(dirname "$0")/.."
ruff check .
ruff format --check .
cython-lint hipep
git ls-files -z --cached --others --exclude-standard 'kernels/*.cc' 'kernels/*.h' 'kernels/*.hip' |
  xargs -0 clang-format --dry-run -Werror
mypy
