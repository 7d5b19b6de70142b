"""Under MPI the program gives the same answers, and one process's trouble is everybody's."""

import os
import subprocess
import time
import unittest

from program import SOURCE, TEST_DATA, WITH_MPI, ProgramTest, run

COMPARED = ("order", "dims", "nnz", "duplicates", "explicit_zeros", "modes", "format")


@unittest.skipUnless(WITH_MPI, "this build has no MPI")
class MpiTest(ProgramTest):
    def test_statistics_are_those_of_one_process(self) -> None:
        self.succeed("generate", "zipf", self.folder / "x.tns", "--dims", "90x800x7", "--nnz", 5000, "--exponents", "0.9,0.3,0")
        rows = (self.folder / "x.tns").read_text().splitlines()
        self.write("twice.tns", "\n".join(rows + rows[500:900]))  # duplicates on different processes
        self.write("x.csv", "a,b,n\n" + "".join(f"u{i * 37 % 211},w{i % 17},{i}\n" for i in range(3000)))
        for name in ("y.ptb", "y.tns.gz", "y.bin"):
            self.succeed("convert", self.folder / "x.tns", self.folder / name)
        for name in ("x.tns", "twice.tns", "y.ptb", "y.tns.gz", "y.bin", "x.csv"):
            options = ["--columns", "a,b,n"] if name == "x.csv" else []
            with self.subTest(name):
                alone = self.result("stats", self.folder / name, *options)
                together = self.result("stats", self.folder / name, *options, processes=3)
                self.assertEqual(together["processes"], 3)
                self.assertEqual({k: alone[k] for k in COMPARED}, {k: together[k] for k in COMPARED})

    def test_an_error_on_one_process_is_told_once_and_stops_all(self) -> None:
        rows = [f"{i} 1 1" for i in range(1, 4000)]
        rows[3000] = "1 x 1"
        path = self.write("x.tns", "\n".join(rows))
        result = run("stats", path, processes=4)
        self.assertEqual(result.stderr.count("polyad:"), 1, result.stderr)
        self.assertIn(f"polyad: {path}:3001: index 'x' of mode 2 is not a whole number", result.stderr)
        self.assertEqual(result.returncode, 2)
        unknown = run("stats", path, "--frobnicate", processes=3)
        self.assertEqual((unknown.stderr.count("polyad:"), unknown.returncode), (1, 2), unknown.stderr)

    def test_commands_for_one_process_say_so(self) -> None:
        result = run("convert", TEST_DATA / "bad" / "duplicates.tns", self.folder / "x.ptb", processes=2)
        self.assertIn("polyad: polyad convert runs on one process; 2 were started", result.stderr)
        self.assertEqual(result.returncode, 2)

    def test_runs_at_once_have_session_folders_of_their_own(self) -> None:
        tell = 'echo "$OMPI_MCA_orte_tmpdir_base"; test -n "$(ls "$OMPI_MCA_orte_tmpdir_base")"; exit $?'
        runs = [subprocess.Popen([SOURCE / "tools" / "mpirun", "1", "sh", "-c", tell], stdout=subprocess.PIPE, text=True)
                for _ in range(3)]
        folders = [run.communicate(timeout=600)[0].strip() for run in runs]
        if not any(folders):
            self.skipTest("this is not Open MPI")
        self.assertEqual([run.returncode for run in runs], [0, 0, 0])
        self.assertEqual(len(set(folders)), 3)
        deadline = time.monotonic() + 300
        while any(map(os.path.exists, folders)) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertFalse(any(map(os.path.exists, folders)), "they are removed")

    def test_doctor_sends_messages(self) -> None:
        doctor = self.result("doctor", processes=3)
        self.assertEqual((doctor["processes"], doctor["messages_arrive"]), (3, True))


if __name__ == "__main__":
    unittest.main()
