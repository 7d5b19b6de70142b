"""Processes, streams, limits and settings that are not as a run expects them: a sentence and an exit code, never a
hang, and never a model that is lost because of a text."""

import contextlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time
import unittest

sys.path.append(os.path.join(os.environ["POLYAD_SOURCE"], "tests", "cli"))
from program import POLYAD, SOURCE, WITH_MPI, ProgramTest, run  # noqa: E402

PATIENCE = 600  # seconds until a run counts as hung


class AttackTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.x = self.folder / "x.tns"
        self.succeed("generate", "zipf", self.x, "--dims", "60x50x40", "--nnz", 2000, "-q")
        self.model = self.folder / "model"
        self.cpd = [POLYAD, "cpd", str(self.x), "-r", "3", "-i", "3", "-t", "1", "--out", str(self.model)]

    def shell(self, redirection: str, *command: str) -> subprocess.CompletedProcess:
        """Runs a command in a shell that redirects its streams."""
        return subprocess.run(["bash", "-c", f'"$@" {redirection}; exit ${{PIPESTATUS[0]}}', "bash", *command],
                              capture_output=True, text=True, timeout=PATIENCE)

    def assert_model(self) -> None:
        self.assertEqual(sorted(file.name for file in self.model.iterdir()),
                         ["lambda.mat", "mode1.mat", "mode2.mat", "mode3.mat", "summary.json"])
        self.succeed("predict", self.model, self.x, "--out", self.folder / "table.tsv", "-q")


class StreamsTest(AttackTest):
    def test_a_log_that_cannot_be_written_stops_nothing(self) -> None:
        for redirection in ("2> /dev/full", "2>&-", "<&- >&- 2>&-", "2> >(true)"):
            with self.subTest(redirection):
                result = self.shell(redirection, *self.cpd)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assert_model()

    def test_progress_that_cannot_be_written_stops_nothing(self) -> None:
        large = [*self.cpd, "-i", "20000000", "--tol", "0"]
        large[large.index("-i"):large.index("-i") + 2] = []
        with open("/dev/full", "w") as full:
            process = subprocess.Popen(large, stdout=subprocess.DEVNULL, stderr=full)
            with self.assertRaises(subprocess.TimeoutExpired):  # progress is shown from the first second on
                process.wait(timeout=2.5)
            process.kill()
            process.wait()

    def test_a_reader_that_leaves_does_not_end_the_run(self) -> None:
        result = self.shell("| true", *self.cpd)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assert_model()

    def test_a_summary_that_is_lost_is_told_when_all_is_written(self) -> None:
        result = self.shell("> /dev/full", *self.cpd)
        self.assertEqual((result.returncode, result.stderr),
                         (3, "polyad: the summary cannot be written to standard output\n"))
        self.assert_model()

    def test_a_result_that_cannot_be_written_is_an_error_after_the_model(self) -> None:
        result = self.shell("> /dev/full", *self.cpd, "-q", "--json", "-")
        self.assertEqual((result.returncode, result.stderr),
                         (3, "polyad: the result cannot be written to standard output: No space left on device\n"))
        self.assert_model()
        table = self.shell("> /dev/full", POLYAD, "predict", str(self.model), str(self.x), "-q")
        self.assertEqual(table.returncode, 3, table.stderr)

    def test_closed_streams_are_not_taken_for_files(self) -> None:
        result = self.shell("<&- >&- 2>&-", *self.cpd, "--json", str(self.folder / "x.json"))
        self.assertEqual(result.returncode, 0)
        self.assertEqual(json.loads((self.folder / "x.json").read_text())["iterations"], 3)
        self.assertEqual(self.x.read_text().count("\n"), len(self.x.read_text().splitlines()))


class LimitsTest(AttackTest):
    def limited(self, megabytes: int, *arguments: object) -> subprocess.CompletedProcess:
        """Runs the program with so much address space."""
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        return subprocess.run([POLYAD, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE,
                              preexec_fn=limit)

    def test_stacks_that_do_not_fit(self) -> None:
        result = run("cpd", self.x, "-r", 2, "-i", 2, "-q", "-t", 2, env={**os.environ, "OMP_STACKSIZE": "100000G"})
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertTrue(result.stderr.startswith("polyad: 2 threads cannot be started: "), result.stderr)

    def test_address_spaces_of_any_size_end_in_a_result_or_a_sentence(self) -> None:
        for megabytes in (40, 120, 200, 256, 257, 264, 272, 280, 300, 340, 400):
            with self.subTest(megabytes):
                result = self.limited(megabytes, "cpd", self.x, "-r", 3, "-i", 3, "-q")
                if result.returncode == 127:  # not even the libraries can be loaded
                    self.assertLess(megabytes, 100)
                    continue
                self.assertIn(result.returncode, (0, 3), result.stderr)
                self.assertEqual(result.stderr.startswith("polyad: "), result.returncode == 3, result.stderr)

    def test_the_minimum_address_space_is_reported(self) -> None:
        result = self.limited(200, "stats", self.x)
        self.assertEqual((result.returncode, result.stderr),
                         (3, "polyad: the address space is limited to less than 256 MiB, too little for the program "
                             "itself; ulimit -v sets the limit\n"))

    def test_threads_that_cannot_be_started_are_told(self) -> None:
        result = self.limited(400, "stats", self.x, "-t", 200)
        self.assertEqual((result.returncode, result.stderr),
                         (3, "polyad: 200 threads cannot be started: Resource temporarily unavailable; --threads asks "
                             "for fewer, and ulimit -v and -u limit their memory and number\n"))
        self.assert_fails("OMP_NUM_THREADS asks for 100000 threads; at most 4096 are supported", 2, "stats", self.x,
                          env={**os.environ, "OMP_NUM_THREADS": "100000"})
        self.succeed("stats", self.x, "-t", 2)


class SettingsTest(AttackTest):
    def test_a_machine_file_that_is_none(self) -> None:
        os.mkfifo(self.folder / "fifo")
        for path, sentence in (
                (self.folder, "cannot be read: Is a directory"),
                (self.folder / "fifo", "is a pipe, expected a regular file"),
                (self.write("large.json", " " * (1 << 20) + "{}"),
                 "is too large for what polyad doctor --calibrate writes"),
                (self.write("bad.json", "{"),
                 "expected a number for seconds_per_message, as polyad doctor --calibrate writes it")):
            with self.subTest(path):
                result = run("plan", self.x, "-k", 2, env={**os.environ, "POLYAD_MACHINE": str(path)})
                self.assertEqual(result.returncode, 2)
                self.assertTrue(result.stderr.startswith(f"polyad: {path}: {sentence}"), result.stderr)

    def test_a_file_that_holds_something_else_is_not_calibrated(self) -> None:
        os.mkfifo(self.folder / "fifo")
        foreign = "exists and does not hold what polyad doctor --calibrate writes; remove it, or name another file by " \
                  "POLYAD_MACHINE"
        special = "is no regular file; POLYAD_MACHINE names the file that the constants are written to"
        for path, sentence in (
                (self.folder / "fifo", special), ("/dev/null", special),
                (self.folder, "cannot be written: Is a directory"),
                (self.write("list.json", "[1]"), foreign), (self.write("other.json", '{"mine": 1}'), foreign),
                (self.write("notes.txt", "mine"), foreign),
                (self.write("large.json", " " * (1 << 20) + "{}"), "is too large for what polyad doctor --calibrate writes")):
            with self.subTest(path):
                before = path.read_bytes() if isinstance(path, pathlib.Path) and path.is_file() else b""
                self.assert_fails(f"{path}: {sentence}", 2, "doctor", "--calibrate", "-q", "-t", 1,
                                  env={**os.environ, "POLYAD_MACHINE": str(path)})
                if before:
                    self.assertEqual(path.read_bytes(), before)
        for text in ("", '{"seconds_per_row": 1}'):  # an older version wrote less
            path = self.write("machine.json", text)
            self.assertEqual(run("doctor", "--calibrate", "-q", "-t", 1, env={**os.environ, "POLYAD_MACHINE": str(path)}).returncode, 0)
            self.assertIn("seconds_per_message", path.read_text())

    def test_no_home(self) -> None:
        missing = {name: value for name, value in os.environ.items()
                   if name not in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "POLYAD_MACHINE")}
        for home in ({}, {"HOME": "/proc/nonexistent"}, {"HOME": ""}):
            with self.subTest(home):
                result = run("plan", self.x, "-k", 2, "-q", env={**missing, **home})
                self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assert_fails("HOME is not set; POLYAD_MACHINE names the file that the constants are written to", 2,
                          "doctor", "--calibrate", "-q", env=missing)
        self.assert_fails("/proc/nonexistent/.config/polyad: cannot be created: No such file or directory; "
                          "POLYAD_MACHINE names another file", 2,
                          "doctor", "--calibrate", "-q", env={**missing, "HOME": "/proc/nonexistent"})

    def test_grids_beyond_32_bits(self) -> None:
        for options in (("cpd", self.x, "-r", 2), ("plan", self.x, "-k", 1)):
            self.assert_fails("grid 4294967297x1x1 has more than 2^31 - 1 processes", 2, *options,
                              "--grid", "4294967297x1x1")


@unittest.skipUnless(WITH_MPI, "this build has no MPI")
class AgreementTest(AttackTest):
    def together(self, *commands: list[object]) -> subprocess.CompletedProcess:
        """One process for each list of arguments, in one run."""
        first, *others = ([POLYAD, *map(str, command)] for command in commands)
        more = [word for command in others for word in (":", "-n", "1", *command)]
        return subprocess.run([SOURCE / "tools" / "mpirun", "1", *first, *more], capture_output=True, text=True,
                              timeout=PATIENCE)

    def assert_disagree(self, sentence: str, *commands: list[object]) -> None:
        result = self.together(*commands)
        messages = [line for line in result.stderr.splitlines() if line.startswith("polyad:")]
        self.assertEqual((messages, result.returncode), (["polyad: " + sentence], 2), result.stderr)

    def test_arguments_must_be_the_same(self) -> None:
        cpd = ["cpd", self.x, "-r", 2, "-i", 2]
        started = "process 1 was started with other arguments than process 0: "
        for other, what in (
                (["cpd", self.x, "-r", 2, "-i", 3], "argument 6 is '3', on process 0 it is '2'"),
                ([*cpd, "--seed", 2], "argument 7 is '--seed', on process 0 it is missing"),
                (["stats", self.x], "argument 1 is 'stats', on process 0 it is 'cpd'"),
                (["cpd"], f"argument 2 is missing, on process 0 it is '{self.x}'"),
                (["--help"], "argument 1 is '--help', on process 0 it is 'cpd'"),
                (["frobnicate"], "argument 1 is 'frobnicate', on process 0 it is 'cpd'")):
            with self.subTest(other):
                self.assert_disagree(started + what, cpd, other)
        self.assert_disagree("process 2 was started with other arguments than process 0: argument 1 is 'doctor', on "
                             "process 0 it is 'stats'", ["stats", self.x], ["stats", self.x], ["doctor"])
        self.assertEqual(self.together(cpd, cpd).returncode, 0)

    def test_files_must_be_the_same(self) -> None:
        """Each process has a folder of its own, as on machines with copies of the files."""
        for name, files, sentence in (
                ("size", {"x.tns": "1 1 1 1\n"}, "x.tns: process 1 has another file than process 0: 8 bytes, on "
                                                 f"process 0 {self.x.stat().st_size}"),
                ("content", {"x.tns": self.x.read_text().replace("1", "2", 1)},
                 "x.tns: process 1 has another file than process 0: both have "
                 f"{self.x.stat().st_size} bytes, with other content")):
            with self.subTest(name):
                folders = [self.folder / name / rank for rank in "01"]
                for folder in folders:
                    folder.mkdir(parents=True)
                (folders[0] / "x.tns").write_text(self.x.read_text())
                for file, text in files.items():
                    (folders[1] / file).write_text(text)
                self.assert_disagree_in(folders, sentence)

    def assert_disagree_in(self, folders: list, sentence: str) -> None:
        enter = f"cd {folders[0].parent}/${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} && exec {POLYAD} stats x.tns"
        result = subprocess.run([SOURCE / "tools" / "mpirun", "2", "sh", "-c", enter], capture_output=True, text=True,
                                timeout=PATIENCE)
        messages = [line for line in result.stderr.splitlines() if line.startswith("polyad:")]
        self.assertEqual((messages, result.returncode), (["polyad: " + sentence], 2), result.stderr)

    def test_formats_that_coarse_grain_does_not_serve(self) -> None:
        options = (self.x, "-r", 2, "-i", 2)
        self.assertEqual(self.result("cpd", *options, processes=2)["distribution"], "coarse")  # the automatic choice
        for name in ("csf-one", "csf-two", "csf-all"):
            for more in ((), ("--partition", "random")):
                with self.subTest(name, more=more):
                    result = self.result("cpd", *options, "--format", name, *more, processes=2)
                    self.assertEqual(result["format"], name)


def cpu_seconds(process: int) -> float:
    """What a process has taken until now."""
    ticks = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


@unittest.skipUnless(WITH_MPI, "this build has no MPI")
class TimeoutTest(AttackTest):
    def start(self, seconds: float, *arguments: object, processes: int = 2) -> subprocess.Popen:
        """Processes of a long run; process 1 writes its number to a file."""
        tell = f'test "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" != 1 || echo $$ > {self.folder}/pid; exec "$@"'
        return subprocess.Popen([SOURCE / "tools" / "mpirun", str(processes), "sh", "-c", tell, "sh", POLYAD, *map(str, arguments)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "POLYAD_TIMEOUT": str(seconds)})

    def stop_one(self, process: subprocess.Popen, by: int = signal.SIGSTOP) -> int:
        """Stops process 1 when it has read the tensor: by its work, not by time, which says little on a busy machine. Where
        the system does not count the work of other processes, after half a minute."""
        number = 0
        latest = time.monotonic() + 30
        while number == 0 or (cpu_seconds(number) < 2 and time.monotonic() < latest):
            time.sleep(0.1)
            self.assertIsNone(process.poll(), "the run is too short for this test")
            text = (self.folder / "pid").read_text() if (self.folder / "pid").exists() else ""
            number = int(text) if text.endswith("\n") else 0
        os.kill(number, by)
        return number

    def test_a_process_that_is_stopped_is_named(self) -> None:
        """After ten seconds, or the limit where that is less."""
        for seconds, processes in ((5, 2), (600, 4)):
            process = self.start(seconds, "cpd", self.x, "-r", 4, "-i", 100000000, "--tol", 0, "-q", "-t", 1, processes=processes)
            number = self.stop_one(process)
            try:
                _, messages = process.communicate(timeout=PATIENCE / 3)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
            hint = "; POLYAD_TIMEOUT sets the limit" if seconds < 10 else ""
            self.assertRegex(messages, rf"polyad: process 1 has been stopped for {min(seconds, 10)} s: process \d waits in MPI_\w+{hint}\n")
            self.assertEqual(messages.count("polyad: "), 1)
            self.assertEqual(process.returncode, 3)
            (self.folder / "pid").unlink()

    def test_a_process_that_is_killed_ends_the_others(self) -> None:
        process = self.start(600, "cpd", self.x, "-r", 4, "-i", 100000000, "--tol", 0, "-q", "-t", 1, processes=4)
        self.stop_one(process, by=signal.SIGKILL)
        began = time.monotonic()
        _, messages = process.communicate(timeout=PATIENCE / 3)
        self.assertLess(time.monotonic() - began, 30)  # some 2 s on a machine that does nothing else
        self.assertNotEqual(process.returncode, 0)
        self.assertRegex(messages, r"(?i)rank 1\b|process 1\b|signal 9|killed", messages)

    def test_a_run_that_is_stopped_as_a_whole_goes_on(self) -> None:
        process = self.start(5, "cpd", self.x, "-r", 4, "-i", 100000000, "--tol", 0, "-q", "-t", 1)
        first = self.stop_one(process)
        all_of_them = [first, *self.siblings_of(first)]
        self.assertEqual(len(all_of_them), 2)
        for number in all_of_them:
            os.kill(number, signal.SIGSTOP)
        time.sleep(7)
        for number in all_of_them:
            os.kill(number, signal.SIGCONT)
        time.sleep(7)
        self.assertIsNone(process.poll(), "it runs on")
        process.terminate()
        process.communicate(timeout=PATIENCE)

    @staticmethod
    def siblings_of(process: int) -> list[int]:
        """Other processes of the same launcher."""
        parents = {}
        for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                number, rest = status.read_text().split(" (", 1)
                parents[int(number)] = int(rest.rsplit(") ", 1)[1].split()[1])
        return [number for number, parent in parents.items() if parent == parents[process] and number != process]

    def test_a_process_that_goes_on_in_time_is_waited_for(self) -> None:
        process = self.start(10, "cpd", self.x, "-r", 4, "-i", 100000000, "--tol", 0, "-q", "-t", 1)
        number = self.stop_one(process)
        time.sleep(2)
        os.kill(number, signal.SIGCONT)
        time.sleep(9)
        self.assertIsNone(process.poll(), "it runs on")
        process.terminate()
        process.communicate(timeout=PATIENCE)

    def test_one_process_that_works_is_waited_for(self) -> None:
        """Process 0 partitions the hypergraph for longer than the limit, while process 1 waits for it."""
        large = self.folder / "large.tns"
        self.succeed("generate", "zipf", large, "--dims", "3000x3000x3000", "--nnz", 100000, "-q")
        process = self.start(1, "cpd", large, "-r", 2, "-i", 1, "--partition", "hypergraph", "-q", "-t", 1)
        _, messages = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, messages), (0, ""))

    def test_a_limit_that_is_none(self) -> None:
        self.assert_fails("POLYAD_TIMEOUT=soon: expected a number of seconds, or 0 for no limit", 2, "stats", self.x,
                          env={**os.environ, "POLYAD_TIMEOUT": "soon"})
        result = run("stats", self.x, "-q", processes=2, env={**os.environ, "POLYAD_TIMEOUT": "0"})
        self.assertEqual((result.returncode, result.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
