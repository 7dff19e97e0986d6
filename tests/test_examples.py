"""The example agrees with the package whose model it runs."""

import importlib.util
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[1] / "examples" / "classify.py"
ROOT = EXAMPLE.parents[1]


@pytest.fixture(scope="module")
def example():
    pytest.importorskip("magika")
    spec = importlib.util.spec_from_file_location("classify", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by name.
    sys.modules["classify"] = module
    spec.loader.exec_module(module)
    module.ROUNDS, module.ROUND_SECONDS = 1, 0
    yield module
    del sys.modules["classify"]


@pytest.fixture
def samples(tmp_path):
    made = {
        "text.json": json.dumps({"a": [1, 2, {"b": None}]} | {str(i): i for i in range(50)}),
        "page.html": "<!DOCTYPE html><html><head><title>x</title></head><body>y</body></html>",
        "padded.py": "\n" * 5000 + "import os\n\n\ndef f(x):\n    return os.path.join(x)\n" * 90,
        "long.csv": "a,b,c\n" + "1,2,3\n" * 3000,
    }
    paths = []
    for name, text in made.items():
        paths.append(tmp_path / name)
        paths[-1].write_text(text)
    np.save(tmp_path / "array.npy", np.arange(1000))
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.write(paths[0], "text.json")
    sources = ["meson.build", "pyproject.toml", "hipep/_core.pyx", "kernels/top_k.hip", "LICENSE"]
    return [
        *paths,
        tmp_path / "array.npy",
        tmp_path / "archive.zip",
        *(ROOT / source for source in sources),
    ]


def test_first_class_is_that_of_magika(example, samples):
    from magika import Magika

    expected = {
        str(path): result.prediction
        for path, result in zip(samples, Magika().identify_paths(samples), strict=True)
        if result.prediction.dl.label != "undefined"
    }
    result = example.classify(samples, "host")
    found = {path: classes for path, classes in result["files"].items() if classes}
    assert found.keys() == expected.keys()
    assert len(found) >= 9
    for path, classes in found.items():
        assert classes[0]["label"] == str(expected[path].dl.label), path
        assert classes[0]["probability"] == pytest.approx(expected[path].score, abs=1e-4)
        values = [entry["probability"] for entry in classes]
        assert values == sorted(values, reverse=True)
        assert len({entry["label"] for entry in classes}) == 5
    assert result["same_top_as_cpu"]
    assert result["stats"]["launches"] > 0
    assert set(result["microseconds"]) == {"hipep", "cpu"}


@pytest.mark.parametrize("content", [b"", b"short", b" " * 6000, b" \n" * 20 + b"ab"])
def test_files_that_say_too_little(example, tmp_path, content, capsys):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert example.main([str(path)]) == 0
    assert "too short" in capsys.readouterr().out


def test_missing_file_is_named(example, capsys):
    with pytest.raises(SystemExit):
        example.main(["no-such-file"])
    assert "no-such-file" in capsys.readouterr().err


def test_program_prints_json(example, tmp_path):
    command = [sys.executable, EXAMPLE, "--json", ROOT / "pyproject.toml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    assert next(iter(result["files"].values()))[0]["label"] == "toml"
    assert result["device"] == "host"
