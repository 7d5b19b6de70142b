"""The package as a whole."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import polyad
import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def test_version():
    text = (SOURCE / "CMakeLists.txt").read_text()
    assert f"project(polyad VERSION {polyad.__version__} " in text


def test_names_exist_and_have_a_description():
    assert polyad.__all__ == sorted(polyad.__all__)
    for name in polyad.__all__:
        assert getattr(polyad, name).__doc__, name


def test_show_versions(capsys):
    polyad.show_versions()
    shown = capsys.readouterr().out
    assert polyad.__version__ in shown and sys.version.split()[0] in shown


def test_nothing_but_numpy_is_imported():
    script = "import sys, numpy; before = set(sys.modules); import polyad; print(*sorted(set(sys.modules) - before))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run([sys.executable, "-c", script], check=True, text=True, capture_output=True, env=environment)
    others = {name.split(".")[0] for name in result.stdout.split()} - set(sys.stdlib_module_names)
    assert others <= {"polyad", "numpy", "nanobind_backend", "_nb_backend_v1", "nanobind"}


def test_types(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    package = pathlib.Path(polyad.__file__).parent
    command = [sys.executable, "-m", "mypy", "--config-file", SOURCE / "pyproject.toml", "--cache-dir", tmp_path, "-p", "polyad"]
    result = subprocess.run(command, text=True, capture_output=True, cwd=package.parent)
    assert result.returncode == 0, result.stdout
