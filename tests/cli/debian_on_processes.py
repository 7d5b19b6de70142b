"""`polyad cpd` of the Debian tensor on several processes, beside the same on one."""

import json
import os

from program import SOURCE, ProgramTest, run

os.environ["OMP_WAIT_POLICY"] = "passive"  # more threads than cores must not wait in circles

DEBIAN = SOURCE / "data" / "debian.tns.gz"
QUICK = ("-r", 4, "-i", 5, "--tol", 0, "-t", 1)
DIMS = (368, 13905, 58, 8)


class DebianOnProcesses(ProgramTest):
    @classmethod
    def setUpClass(cls) -> None:
        cls.alone = json.loads(run("cpd", DEBIAN, *QUICK, "-q", "--json", "-").stdout)

    def debian(self, processes: int, *options: object) -> dict:
        result = self.result("cpd", DEBIAN, *QUICK, "-q", *options, processes=processes)
        self.assertEqual(result["processes"], processes)
        for here, there in zip(result["fit_trajectory"], self.alone["fit_trajectory"], strict=True):
            self.assertAlmostEqual((1 - here) ** 2, (1 - there) ** 2, delta=1e-12)
        sent = result["communication"]
        self.assertEqual(sent["volume_words_per_iteration"], sent["predicted_volume_words_per_iteration"])
        self.assertGreater(sent["volume_words_per_iteration"], 0)
        self.assertLessEqual(sent["max_volume_words"], sent["volume_words_per_iteration"])
        return result

    def assert_refused(self, sentence: str, code: int, *options: object, processes: int = 2) -> None:
        """One process says it, and all end."""
        result = run("cpd", DEBIAN, *QUICK, *options, processes=processes)
        self.assertEqual(result.stderr.count(sentence), 1, result.stderr)
        self.assertEqual(result.returncode, code)
