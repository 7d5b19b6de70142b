"""The job of docs/slurm.md that is queued again until its run has come to its end, with a script that plays the scheduler."""

import json
import os
import pathlib
import re
import signal
import stat
import subprocess
import time
import unittest

from program import POLYAD, SOURCE, ProgramTest

# Without MPI of Slurm: srun starts one process, and its signals go to it. scontrol notes that the job shall run again.
SRUN = """#!/bin/bash
while [ "${1#--}" != "$1" ]; do shift; done
exec "$@"
"""
SCONTROL = """#!/bin/bash
[ "$1" = requeue ] && echo "$2" >> "$REQUEUED"
"""


class RequeueTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        self.requeued = self.folder / "requeued"
        for name, text in (("srun", SRUN), ("scontrol", SCONTROL)):
            script = self.bin / name
            script.write_text(text)
            script.chmod(script.stat().st_mode | stat.S_IXUSR)
        (self.bin / "polyad").symlink_to(POLYAD)
        self.succeed("generate", "planted", self.folder / "x.ptb", "--dims", "60x50x40", "--nnz", 3000, "--noise", 0.1, "-q")

    def job(self) -> str:
        """The script of the manual."""
        manual = (SOURCE / "docs" / "slurm.md").read_text().split("## Time limits")[1]
        return re.search(r"```text\n(#!/bin/bash\n.*?)```", manual, re.S)[1]

    def schedule(self, script: str, end_job=None) -> int:
        """Starts the job as long as it asks for it. Returns how often it ran."""
        job = self.folder / "job.sh"
        job.write_text(script)
        environment = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "SCRATCH": str(self.folder), "SLURM_JOB_ID": "17",
                       "REQUEUED": str(self.requeued), "OMP_NUM_THREADS": "1"}
        for count in range(1, 50):
            self.requeued.unlink(missing_ok=True)
            process = subprocess.Popen(["bash", job], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       start_new_session=True)
            if end_job:
                end_job(process)
            _, said = process.communicate(timeout=300)
            if not self.requeued.exists():
                self.assertEqual(process.returncode, 0, said)
                return count
            self.assertEqual(self.requeued.read_text(), "17\n")
            # The signal may come while the run reads, or writes its model.
            self.assertRegex(said, "the same command goes on from|a signal ended the command")
        self.fail("the run does not come to its end")

    def test_a_time_limit(self) -> None:
        script = self.job().replace("-i 10000", "-i 20000 --tol 0").replace("--time-limit 1h50m", "--time-limit 3s")
        self.assertGreater(self.schedule(script), 1)
        summary = json.loads((self.folder / "model" / "summary.json").read_text())
        self.assertEqual((summary["iterations"], summary["stop"]), (20000, "iteration limit"))

    def test_a_signal_before_the_limit(self) -> None:
        """As #SBATCH --signal=TERM@300 does: srun gets it, and passes it on."""
        def terminate(process: subprocess.Popen) -> None:
            states = self.folder / "states"
            before = set(os.listdir(states)) if states.exists() else set()
            while process.poll() is None and not (states.exists() and {name for name in os.listdir(states) if name.isdigit()} - before):
                time.sleep(0.01)
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            for number in children.read_text().split() if children.exists() else []:
                os.kill(int(number), signal.SIGTERM)
        script = self.job().replace("-i 10000", "-i 300 --tol 0").replace("--every 10min", "--every 60it")
        self.assertGreater(self.schedule(script, terminate), 1)
        summary = json.loads((self.folder / "model" / "summary.json").read_text())
        self.assertEqual((summary["iterations"], summary["stop"]), (300, "iteration limit"))
        whole = self.result("cpd", self.folder / "x.ptb", "-r", 32, "-i", 300, "--tol", 0, "-t", 1, "-q")
        self.assertEqual(summary["fit_trajectory"], whole["fit_trajectory"])


if __name__ == "__main__":
    unittest.main()
