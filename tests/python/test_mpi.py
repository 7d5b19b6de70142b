"""Several processes: mpi_script.py, started by mpirun."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import polyad
import pytest
from conftest import SOURCE, random_tensor

SCRIPT = pathlib.Path(__file__).with_name("mpi_script.py")


@pytest.fixture(scope="module")
def launcher() -> list[str]:
    """Starts programs by the MPI that mpi4py finds."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    if shutil.which(os.environ.get("POLYAD_MPIRUN", "mpirun")) is None:
        pytest.skip("there is no mpirun")
    start = [str(SOURCE / "tools" / "mpirun")]
    check = "from mpi4py import MPI; print(MPI.COMM_WORLD.Get_size())"
    found = subprocess.run([*start, "2", sys.executable, "-c", check], capture_output=True, text=True, timeout=120)
    if found.stdout.count("2") != 2:
        pytest.skip("mpi4py does not run by this mpirun")
    return start


@pytest.mark.parametrize(
    ("name", "processes"),
    [("cp", 3), ("distribution", 3), ("checkpoints", 2), ("einsum", 3), ("rank", 3), ("model", 2), ("files", 2), ("recommender", 3), ("host", 3), ("errors", 2), ("alone", 2)],
)
def test_on_processes(launcher: list[str], name: str, processes: int, tmp_path: pathlib.Path, debian: pathlib.Path) -> None:
    word = str(debian) if name == "files" else str(tmp_path)
    run = subprocess.run(
        [*launcher, str(processes), sys.executable, str(SCRIPT), name, word],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert run.returncode == 0 and run.stdout.count("done") == processes, run.stdout + run.stderr
    assert "leaked" not in run.stderr


def test_what_is_no_communicator_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a communicator of mpi4py"):
        polyad.cp(random_tensor(1), 2, comm=object())
