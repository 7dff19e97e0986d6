"""The docs are true of the code: pages are fresh, links lead somewhere, examples run."""

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.models import node_model

import hipep

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def generated_pages():
    spec = importlib.util.spec_from_file_location("docs", ROOT / "tools" / "docs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pages()


@pytest.mark.parametrize("name", ["operators.md", "options.md"])
def test_generated_pages_are_fresh(name):
    pytest.importorskip("rich")
    page = ROOT / "docs" / name
    assert page.read_text() == generated_pages()[name], "renew it: python tools/docs.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_files_exist(page):
    named = re.findall(
        r"`((?:hipep|kernels|tests|tools|benchmarks|examples)/[\w./-]+)`", page.read_text()
    )
    missing = [path for path in named if not (ROOT / path).exists()]
    assert missing == []


def test_architecture_names_every_module():
    page = (ROOT / "docs" / "design" / "architecture.md").read_text()
    modules = {path for pattern in ("*.py", "*.pyx") for path in (ROOT / "hipep").glob(pattern)}
    plain = {"__init__.py", "__main__.py", "version.py"}
    missing = [path.name for path in modules if path.name not in plain and path.name not in page]
    assert missing == []


def test_commands_of_the_readme_exist():
    pytest.importorskip("typer")
    from hipep.cli.app import app

    verbs = {command.name or command.callback.__name__ for command in app.registered_commands}
    for page in PAGES:
        named = set(re.findall(r"(?:/|`)hipep (\w+)", page.read_text()))
        assert named <= verbs, page


def test_code_of_the_readme_runs(tmp_path, monkeypatch):
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 3
    monkeypatch.chdir(tmp_path)
    Path("model.onnx").write_bytes(node_model("Relu", {"x": ("float32", [1, 4096])}))
    names = {"feeds": {"x": np.ones((1, 4096), np.float32)}}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert isinstance(names["session"], hipep.InferenceSession)


def test_documented_names_are_exported():
    for page in PAGES:
        named = set(re.findall(r"`hipep\.(\w+)[`(]", page.read_text()))
        missing = [
            name
            for name in named
            if not hasattr(hipep, name) and f"hipep.{name}" not in sys.modules
        ]
        assert missing == [], page
