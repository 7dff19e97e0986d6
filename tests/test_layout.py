"""The layout of the sources: no file with two subjects, nothing printed by kernels."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("hipep", "kernels", "tests", "tools", "benchmarks", "examples")
SUFFIXES = {".py", ".pyx", ".pxd", ".pyi", ".cc", ".h", ".hip", ".in"}
MOST_LINES = 400
MOST_LINES_OF_AN_OP_TEST = 150
PRINTS = re.compile(r"\b(printf|fprintf|puts|fputs|perror|abort|exit)\s*\(|std::(cout|cerr)")


def sources(*folders):
    return [
        path
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in SUFFIXES and path.is_file()
    ]


def named(path):
    return str(path.relative_to(ROOT))


def lines(path):
    return path.read_text().splitlines()


@pytest.mark.parametrize("path", sources(*FOLDERS), ids=named)
def test_length(path):
    most = MOST_LINES_OF_AN_OP_TEST if path.parent == ROOT / "tests" / "ops" else MOST_LINES
    count = len(lines(path))
    assert count <= most


KERNELS = [path for path in sources("kernels") if path.suffix != ".py"]


@pytest.mark.parametrize("path", KERNELS, ids=named)
def test_kernels_print_nothing_and_do_not_end_the_process(path):
    code = [line.split("//")[0] for line in lines(path) if "__attribute__" not in line]
    assert [line for line in code if PRINTS.search(line)] == []


def test_the_core_prints_only_the_launch_log():
    printing = {path.name for path in sources("hipep") if "fprintf" in path.read_text()}
    assert printing <= {"_run.pyx", "_compute.pyx"}
