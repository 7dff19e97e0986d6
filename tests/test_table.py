"""The lowering table: every row has a test and a note, and no definition has two rows."""

import itertools
import re
from pathlib import Path

import onnx
import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema

import hipep.ops  # noqa: F401
from hipep._lowering import table

ROWS = table()
TESTS = Path(__file__).parent / "ops"


def described(row):
    return f"{row['domain'] or 'ai.onnx'}.{row['op_type']}-{row['since']}"


def snake_case(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


@pytest.mark.parametrize("row", ROWS, ids=described)
def test_row(row):
    assert (TESTS / f"test_{snake_case(row['op_type'])}.py").is_file()
    assert row["note"].strip()
    assert row["dtypes"]
    assert row["module"]
    assert 1 <= row["since"] <= row["until"]


@pytest.mark.parametrize("row", ROWS, ids=described)
def test_opset_range_ends_at_definitions(row):
    defined = {
        schema.since_version
        for schema in [*onnx.defs.get_all_schemas_with_history(), *get_all_operator_schema()]
        if (schema.domain, schema.name) == (row["domain"], row["op_type"])
    }
    within = {version for version in defined if row["since"] <= version <= row["until"]}
    assert row["since"] in defined
    assert within


def test_no_definition_has_two_rows():
    def key(row):
        return row["domain"], row["op_type"], row["since"]

    for first, second in itertools.pairwise(sorted(ROWS, key=key)):
        if (first["domain"], first["op_type"]) == (second["domain"], second["op_type"]):
            assert first["until"] < second["since"], described(second)


def test_every_test_of_an_operator_has_a_row():
    claimed = {snake_case(row["op_type"]) for row in ROWS}
    for path in TESTS.glob("test_*.py"):
        name = path.stem.removeprefix("test_")
        about = {op for op in claimed if name == op or name.startswith(f"{op}_")}
        assert about or name in ("bfloat16_chains", "repeatable"), path.name
