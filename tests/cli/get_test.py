"""Downloads public data sets, from a server on this machine in place of the network."""

import collections
import gzip
import hashlib
import http.server
import io
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zipfile

from program import NO_SHARED_DATA, POLYAD, SHARED_DATA, SOURCE, WITH_MPI, ProgramTest, run

FIELDS = {"name", "content", "size", "licence", "page", "files", "member", "data", "commands"}
MOVIETWEETINGS = SHARED_DATA / "ratings" / "movietweetings-100K.ratings.dat.gz"


class Handler(http.server.BaseHTTPRequestHandler):
    """Sends the files of the server, each in its own way."""

    def do_GET(self) -> None:  # noqa: N802
        name = self.path.removeprefix("/files/")
        self.server.asked.append(name)
        self.server.agents.append(self.headers.get("User-Agent", ""))
        way, content = self.server.files.get(name, ("missing", b""))
        if way == "missing":
            self.send_error(404)
        elif way == "moved":
            self.send_response(302)
            self.send_header("Location", content.decode())
            self.end_headers()
        else:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content if way == "whole" else content[:len(content) // 2])
            self.wfile.flush()
            if way == "stalled":
                self.server.go_on.wait(60)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    """A mirror, as POLYAD_MIRROR names it. `files` has the way in which each is sent, and its bytes."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.asked, self.agents, self.go_on = {}, [], [], threading.Event()
        self.address = f"http://127.0.0.1:{self.server_port}/files"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_: object) -> None:
        pass  # the client may go away


def zipped(member: str, text: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README", "terms of use")
        archive.writestr(member, text)
    return buffer.getvalue()


def lines(form: str, count: int = 120) -> str:
    """Lines of a table: {u} and {i} are ids, {n} and {m} names, {v} a value from 1 to 5 and {t} a time in seconds."""
    return "".join(form.format(u=k % 12 + 1, i=k * 7 % 11 + 1, n=f"name{k % 12}", m=f"name{k * 7 % 11}", v=k % 5 + 1,
                               t=1_396_310_400 + k * 90_000, x=k % 4 + 1, h=24 * (k // 9)) + "\n" for k in range(count))


TRIPLES, EVENTS = lines("{n}\tis{x}\t{m}"), lines("{u}\t{x}\t{i}\t{h}\t0")
RATINGS_CSV = "userId,movieId,rating,timestamp\n" + lines("{u},{i},{v}.5,{t}")
# A file in the form of each data set, made by hand, and its modes.
SAMPLES = {
    **{name: (lines("{u} {i} {x} {v}"), 3) for name in ("nell-1", "nell-2", "flickr-3d", "delicious-3d", "amazon-reviews")},
    **{name: (lines("{u} {i} {x} {v} {v}"), 4) for name in ("uber", "chicago-crime", "nips", "enron")},
    **{name: (lines("{u} {i} {x} {v} {v} 2"), 5) for name in ("lbnl-network", "vast-2015-mc1")},
    **{name: (RATINGS_CSV, 2) for name in ("ml-latest-small", "ml-25m", "ml-32m")},
    "ml-100k": (lines("{u}\t{i}\t{v}\t{t}"), 2),
    **{name: (lines("{u}::{i}::{v}::{t}"), 2) for name in ("ml-1m", "ml-10m", "movietweetings-100k")},
    "goodbooks-10k": ("user_id,book_id,rating\n" + lines("{u},{i},{v}"), 2),
    "gowalla-lists": ("0 7 3 5\n1 3 6 2 9\n2 8\n", 2),
    "lastfm-plays": ("userID\tartistID\tweight\n" + lines("{u}\t{i}\t1{v}4"), 2),
    "lastfm-tags": ("userID\tartistID\ttagID\ttimestamp\n" + lines("{u}\t{i}\t{x}\t{t}000"), 4),
    "uber-2014-04": ('"Date/Time","Lat","Lon","Base"\n' +
                     lines('"4/{u}/2014 {i}:11:00",40.76{v},-73.95{x},"B025{x}"'), 3),
    **{name: (lines("{u} {i} {t}"), 3) for name in ("college-msg", "mathoverflow", "stackoverflow")},
    "bitcoin-otc": (lines("{u},{i},-{v},{t}.72836"), 3),
    "epinions-trust": ("# Directed graph\n# Nodes: 12 Edges: 120\n# FromNodeId\tToNodeId\n" + lines("{u}\t{i}"), 2),
    "gowalla": (lines("{u}\t2010-10-1{x}T23:55:2{v}Z\t30.2359091167\t-97.7951395833\t{i}"), 3),
    **{name: (TRIPLES, 3) for name in ("codex-s", "codex-m", "fb15k-237", "wn18rr")},
    "nations": (lines("is{x}\t{n}\t{m}"), 3),
    "icews18": (lines("{u}  \t{x}   \t{i}\t{h}\t0"), 4),
    "yago-facts": (EVENTS, 4),
}


class GetTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.server = Server()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.addCleanup(self.server.go_on.set)
        self.environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
        self.environment["POLYAD_MIRROR"] = self.server.address
        if not shutil.which("curl") and not shutil.which("wget"):
            self.stand_in_for_curl()

    def stand_in_for_curl(self) -> None:
        """What does not depend on the program is tested where there is none."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        program = pathlib.Path(folder) / "curl"
        program.write_text(f"#!{sys.executable}\n"
                           "import shutil, sys, urllib.request\n"
                           "shutil.copyfileobj(urllib.request.urlopen(sys.argv[-1]), sys.stdout.buffer, 1)\n")
        program.chmod(0o755)
        self.environment["PATH"] = f"{folder}:{self.environment['PATH']}"

    def use_programs(self, *names: str) -> None:
        """Only these programs are on the PATH."""
        folder = self.folder / ".programs"
        folder.mkdir()
        for name in names:
            if not shutil.which(name):
                self.skipTest(f"{name} is not installed")
            (folder / name).symlink_to(shutil.which(name))
        self.environment["PATH"] = str(folder)

    def get(self, *arguments: object) -> subprocess.CompletedProcess:
        return run("get", *arguments, cwd=self.folder, env=self.environment)

    def get_fails(self, sentence: str, *arguments: object, code: int = 2) -> None:
        result = self.get(*arguments)
        self.assertEqual((result.stderr, result.returncode), (f"polyad: {sentence}\n", code))

    def names(self) -> list[str]:
        """The files that there are, also hidden ones."""
        return sorted(path.name for path in self.folder.iterdir() if path.name != ".programs")


class DownloadTest(GetTest):
    def test_labels_come_with_their_tensor(self) -> None:
        tensor = gzip.compress(b"1 1 1 1 2\n2 1 2 1 3\n")
        self.server.files = {"nips.tns.gz": ("whole", tensor),
                             "nips.mode-1-papers.map.gz": ("whole", gzip.compress(b"first\nsecond\n")),
                             "nips.mode-3-words.map.gz": ("whole", gzip.compress(b"tea\nmilk\n"))}
        result = self.get("nips")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn(f"downloaded nips.tns.gz ({len(tensor)} bytes; no checksum of it is known to compare with)\n", result.stdout)
        self.assertIn("\n  polyad cpd nips.tns.gz --rank 8\n", result.stdout)
        self.assertEqual((self.folder / "nips.tns.gz").read_bytes(), tensor)
        self.assertEqual(self.names(), sorted(self.server.files))
        self.succeed("convert", self.folder / "nips.tns.gz", self.folder / "nips.csv")
        self.assertIn("second,1,milk,1,3\n", (self.folder / "nips.csv").read_text())

    def test_one_file_of_an_archive_is_unpacked_and_the_archive_stays(self) -> None:
        text = SAMPLES["ml-100k"][0]
        self.server.files = {"ml-100k.zip": ("whole", zipped("ml-100k/u.data", text))}
        result = self.get("ml-100k")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("unpacked ml-100k/u.data to ml-100k.data; the archive is not needed any more\n", result.stdout)
        self.assertEqual((self.folder / "ml-100k.data").read_text(), text)
        self.assertEqual(self.names(), ["ml-100k.data", "ml-100k.zip"])
        # What is there is not downloaded again, with or without the archive.
        (self.folder / "ml-100k.data").unlink()
        self.assertIn("kept ml-100k.zip (", self.get("ml-100k").stdout)
        (self.folder / "ml-100k.zip").unlink()
        self.assertIn("kept ml-100k.data; nothing was downloaded\n", self.get("ml-100k").stdout)
        self.assertEqual(len(self.server.asked), 1)
        self.assertEqual(self.names(), ["ml-100k.data"])

    def test_two_data_sets_of_one_archive(self) -> None:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("user_artists.dat", SAMPLES["lastfm-plays"][0])
            archive.writestr("user_taggedartists-timestamps.dat", SAMPLES["lastfm-tags"][0])
        self.server.files = {"hetrec2011-lastfm-2k.zip": ("whole", buffer.getvalue())}
        for name in ("lastfm-plays", "lastfm-tags"):
            self.assertEqual(self.get(name).returncode, 0)
            self.assertEqual((self.folder / f"{name}.tsv").read_text(), SAMPLES[name][0])
        self.assertEqual(len(self.server.asked), 1)

    def test_other_folder(self) -> None:
        self.server.files = {"CollegeMsg.txt.gz": ("whole", gzip.compress(b"1 2 1082040961\n"))}
        (self.folder / "my data").mkdir()
        result = self.get("college-msg", "--out", "my data")
        self.assertIn("\n  polyad stats 'my data/CollegeMsg.txt.gz' --columns 1,2,3:day --value 1\n", result.stdout)
        self.assertEqual([path.name for path in (self.folder / "my data").iterdir()], ["CollegeMsg.txt.gz"])
        result = self.get("college-msg", "--out", "none")
        self.assertEqual(result.returncode, 2)
        self.assertIn("none", result.stderr)

    def test_files_stay_unless_forced(self) -> None:
        old, new = gzip.compress(b"1 2 1082040961\n"), gzip.compress(b"3 4 1082040961\n")
        self.server.files = {"CollegeMsg.txt.gz": ("whole", new)}
        (self.folder / "CollegeMsg.txt.gz").write_bytes(old)
        self.assertIn("kept CollegeMsg.txt.gz", self.get("college-msg").stdout)
        self.assertEqual(((self.folder / "CollegeMsg.txt.gz").read_bytes(), self.server.asked), (old, []))
        self.assertIn("downloaded CollegeMsg.txt.gz", self.get("college-msg", "--force").stdout)
        self.assertEqual((self.folder / "CollegeMsg.txt.gz").read_bytes(), new)

    def test_json_must_be_another_file(self) -> None:
        result = self.get("college-msg", "--json", "CollegeMsg.txt.gz")
        self.assertEqual(result.returncode, 2)
        self.assertEqual((self.names(), self.server.asked), ([], []))

    @unittest.skipUnless(MOVIETWEETINGS.exists(), NO_SHARED_DATA)
    def test_a_published_file_has_its_checksum(self) -> None:
        self.server.files = {"movietweetings-100k.dat": ("whole", gzip.decompress(MOVIETWEETINGS.read_bytes()))}
        for what in ("downloaded", "kept"):
            self.assertIn(f"{what} movietweetings-100k.dat (2,945,101 bytes; its SHA-256 is that of the published file)\n",
                          self.get("movietweetings-100k").stdout)

    def test_curl_follows_a_mirror_that_moved(self) -> None:
        self.use_programs("curl")
        other = Server()
        self.addCleanup(other.server_close)
        self.addCleanup(other.shutdown)
        content = gzip.compress(b"1 2 1082040961\n")
        other.files = {"there.gz": ("whole", content)}
        self.server.files = {"CollegeMsg.txt.gz": ("moved", f"{other.address}/there.gz".encode())}
        self.assertEqual(self.get("college-msg").returncode, 0)
        self.assertEqual(self.names(), ["CollegeMsg.txt.gz"])

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_on_one_process_only(self) -> None:
        result = run("get", "college-msg", cwd=self.folder, env=self.environment, processes=2)
        self.assertEqual(result.returncode, 2)
        self.assertIn("polyad: polyad get runs on one process; 2 were started", result.stderr)
        self.assertEqual((self.names(), self.server.asked), ([], []))


class ProgramsTest(GetTest):
    def test_each_program_downloads(self) -> None:
        for program in ("curl", "wget"):
            with self.subTest(program):
                shutil.rmtree(self.folder / ".programs", ignore_errors=True)
                self.use_programs(program)
                self.server.files = {"CollegeMsg.txt.gz": ("whole", gzip.compress(b"1 2 1082040961\n"))}
                self.assertEqual(self.get("college-msg", "--force").returncode, 0)
                self.assertTrue(self.server.agents[-1].lower().startswith(program))

    def test_neither_program(self) -> None:
        self.use_programs()
        address = "https://snap.stanford.edu/data/CollegeMsg.txt.gz"
        del self.environment["POLYAD_MIRROR"]
        self.get_fails(f"CollegeMsg.txt.gz: cannot be downloaded from {address}: neither curl nor wget is installed; download it by "
                       "other means to CollegeMsg.txt.gz and run this again", "college-msg")
        (self.folder / "CollegeMsg.txt.gz").write_bytes(gzip.compress(b"1 2 1082040961\n"))
        self.assertEqual(self.get("college-msg").returncode, 0)

    def test_words_of_a_file_in_the_current_folder_are_not_run(self) -> None:
        (self.folder / "curl").write_text("#!/bin/sh\ntouch ran\n")
        (self.folder / "curl").chmod(0o755)
        for path in (".", "", ":"):
            self.environment["PATH"] = path
            self.assertIn("neither curl nor wget is installed", self.get("college-msg").stderr)
        self.assertEqual(self.names(), ["curl"])

    def test_addresses_of_the_list_are_left_only_by_https(self) -> None:
        folder = self.folder / ".programs"
        folder.mkdir()
        for program in ("curl", "wget"):
            with self.subTest(program):
                fake = folder / program
                fake.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {self.folder}/words\nexit 7\n")
                fake.chmod(0o755)
                environment = {**self.environment, "PATH": str(folder)}
                del environment["POLYAD_MIRROR"]
                result = run("get", "nations", cwd=self.folder, env=environment)
                self.assertEqual(result.returncode, 2)
                self.assertIn(f"{program} ended with exit code 7; download it by other means", result.stderr)
                words = (self.folder / "words").read_text().split("\n")[:-1]
                self.assertTrue(words[-1].startswith("https://raw.githubusercontent.com/"))
                if program == "curl":
                    self.assertEqual([words[words.index(word) + 1] for word in ("--proto", "--proto-redir")], ["=https"] * 2)
                else:
                    self.assertIn("--max-redirect=0", words)
                fake.unlink()


class FaultsTest(GetTest):
    def assert_fault(self, why: str, way: str, content: bytes, name: str = "nations", file: str = "nations.txt") -> None:
        """Each program fails with a sentence that has the address and the place for the file, and leaves nothing."""
        for program in ("curl", "wget"):
            with self.subTest(program, way=way):
                shutil.rmtree(self.folder / ".programs", ignore_errors=True)
                self.use_programs(program)
                self.server.files = {file: (way, content)}
                result = self.get(name)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertRegex(result.stderr, f"^polyad: {file}: (cannot be downloaded from|what) {self.server.address}/{file}")
                self.assertRegex(result.stderr, why)
                self.assertRegex(result.stderr, f"; download https://\\S+ by other means to {file} and run this again\n$")
                self.assertEqual(result.stderr.count("\n"), 1)
                self.assertEqual(self.names(), [])

    def test_not_found(self) -> None:
        self.assert_fault("404", "missing", b"")

    def test_interrupted(self) -> None:
        self.assert_fault("cannot be downloaded from", "half", b"a\tb\tc\n" * 100_000)

    def test_other_contents(self) -> None:
        self.assert_fault("sent is not the published file: its SHA-256 is "
                          "73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac, expected b923bd0e8393b7cad275ee567b557"
                          "0886f9ff12426e0b3e84e2af17523281b47", "whole", b"x\n")
        self.assert_fault("is not the published file: it is empty", "whole", b"")
        self.assert_fault("is not the published file: it is a web page", "whole", b"<html>Sign in</html>", "icews18", "icews18.txt")
        self.assert_fault("is not the published file: it is no gzip file", "whole", b"<html>", "college-msg", "CollegeMsg.txt.gz")
        self.assert_fault("is not the published file: it is no zip archive", "whole", b"<html>", "ml-100k", "ml-100k.zip")

    def test_no_connection(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.assert_fault("cannot be downloaded from", "whole", b"")

    def test_existing_file_with_other_contents(self) -> None:
        self.write("nations.txt", "a\tb\tc\n")
        result = self.get("nations")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, "^polyad: nations.txt: is not the published file: its SHA-256 is [0-9a-f]{64}, expected "
                         "[0-9a-f]{64}; --force downloads https://\\S+ again\n$")
        self.assertEqual((self.folder / "nations.txt").read_text(), "a\tb\tc\n")

    def test_checksums_are_those_of_hashlib(self) -> None:
        for size in (1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 129, (1 << 18) - 1, 1 << 18, (1 << 18) + 65):
            content = bytes((k * k >> 3) % 251 + 1 for k in range(size)).replace(b"<", b"=")
            (self.folder / "nations.txt").write_bytes(content)
            self.assertIn(f"its SHA-256 is {hashlib.sha256(content).hexdigest()}, expected", self.get("nations").stderr, size)

    def test_damaged_archives(self) -> None:
        whole = zipped("ml-100k/u.data", SAMPLES["ml-100k"][0])
        self.server.files = {"ml-100k.zip": ("whole", zipped("other.data", "1\t1\t1\t1\n"))}
        self.get_fails("ml-100k.zip: has no member 'ml-100k/u.data', which is the data set ml-100k; --force downloads it again", "ml-100k")
        for damaged in (whole[:-30], whole[:200] + bytes(40) + whole[240:]):
            (self.folder / "ml-100k.zip").write_bytes(damaged)
            result = self.get("ml-100k")
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr, "^polyad: ml-100k.zip: .*(damaged|truncated)")
            self.assertEqual(self.names(), ["ml-100k.zip"])

    def test_any_damage_to_an_archive_is_noticed_or_does_not_matter(self) -> None:
        text = SAMPLES["ml-100k"][0]
        whole = zipped("ml-100k/u.data", text)
        draw = random.Random(1)
        refused = 0
        for _ in range(60):
            damaged = bytearray(whole)
            for _ in range(draw.choice((1, 1, 2, 5))):
                damaged[draw.randrange(2, len(whole))] = draw.randrange(256)
            (self.folder / "ml-100k.zip").write_bytes(damaged[:draw.choice((len(whole), len(whole), draw.randrange(3, len(whole))))])
            result = self.get("ml-100k")
            if result.returncode == 0:
                self.assertEqual((self.folder / "ml-100k.data").read_text(), text)
                (self.folder / "ml-100k.data").unlink()
            else:
                self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1), result.stderr)
                refused += 1
            self.assertEqual(self.names(), ["ml-100k.zip"])
        self.assertGreater(refused, 20)

    def test_size_limit_of_files(self) -> None:
        self.server.files = {"icews18.txt": ("whole", b"1\t2\t3\t0\t0\n" * 200_000)}
        command = f"ulimit -f 100; exec {shlex.quote(POLYAD)} get icews18"
        result = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (3, "polyad: icews18.txt: cannot be written: File too large\n"))
        self.assertEqual(self.names(), [])

    def test_a_signal_leaves_nothing(self) -> None:
        self.server.files = {"icews18.txt": ("stalled", b"1\t2\t3\t0\t0\n" * 100_000)}
        process = subprocess.Popen([POLYAD, "get", "icews18"], cwd=self.folder, env=self.environment, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while not (self.names() and self.server.asked) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertRegex(" ".join(self.names()), r"^\.icews18\.txt\.\S+\.partial$")
        process.send_signal(signal.SIGTERM)
        process.communicate()
        self.assertEqual((process.returncode, self.names()), (-signal.SIGTERM, []))

    def test_mirrors_are_addresses(self) -> None:
        for mirror in ("ftp://host/files", "/usr/share", "http://host/a b", "-o/etc/passwd"):
            self.environment["POLYAD_MIRROR"] = mirror
            self.get_fails(f"POLYAD_MIRROR={mirror}: expected the address of a folder that begins with http:// or https://", "nations")

    def test_names(self) -> None:
        self.get_fails("there is no data set natons (did you mean nations?) in the list of 36", "natons")
        self.get_fails("there is no data set ../x in the list of 36", "../x")


class ListTest(GetTest):
    def sets(self) -> list[dict]:
        return self.result("get")["sets"]

    def test_rows_are_well_formed(self) -> None:
        sets = self.sets()
        self.assertGreaterEqual(len(sets), 20)
        text = self.succeed("get")
        addresses = collections.defaultdict(set)
        for one in sets:
            with self.subTest(one["name"]):
                self.assertEqual(set(one), FIELDS)
                self.assertRegex(one["name"], r"^[a-z0-9-]+$")
                self.assertTrue(all(one[field] for field in FIELDS - {"member"}))
                self.assertRegex(one["size"], r"\d")
                self.assertRegex(one["page"], r"^https?://\S+$")
                for file in one["files"]:
                    self.assertRegex(file["address"], r"^https://[a-z0-9.-]+/[\w./-]+$")
                    self.assertRegex(file["name"], r"^[\w][\w.-]+$")
                    self.assertRegex(file["sha256"], r"^([0-9a-f]{64})?$")
                    addresses[file["name"]].add(file["address"])
                if one["member"]:
                    self.assertTrue(one["files"][0]["name"].endswith(".zip"))
                    self.assertNotEqual(one["data"], one["files"][0]["name"])
                else:
                    self.assertEqual(one["data"], one["files"][0]["name"])
                for label in one["files"][1:]:
                    stem = re.escape(one["data"].removesuffix(".tns.gz"))
                    self.assertRegex(label["name"], rf"^{stem}\.mode-\d+-\w+\.map\.gz$")
                for shown in (one["name"], one["content"], one["size"], one["licence"], one["files"][0]["address"]):
                    self.assertIn(shown, text)
        self.assertEqual(len({one["name"] for one in sets}), len(sets))
        self.assertEqual(len({one["data"] for one in sets}), len(sets))
        self.assertEqual({name: len(found) for name, found in addresses.items() if len(found) > 1}, {})

    def test_the_page_has_the_same_list(self) -> None:
        rows = re.findall(r"^\| `([^`]+)` \| (.+) \| (.+) \| (.+) \| (yes|no) \|$", (SOURCE / "docs" / "data.md").read_text(), re.MULTILINE)
        self.assertEqual(rows, [(one["name"], one["content"], one["size"], one["licence"], "yes" if one["files"][0]["sha256"] else "no")
                                for one in self.sets()])

    def test_the_commands_read_files_of_their_form(self) -> None:
        sets = self.sets()
        self.assertEqual(set(SAMPLES), {one["name"] for one in sets})
        for one in sets:
            text, order = SAMPLES[one["name"]]
            path = self.folder / one["data"]
            path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
            for command in one["commands"]:
                with self.subTest(command):
                    program, *words = shlex.split(command)
                    self.assertEqual(program, "polyad")
                    # The complete of so few ratings needs no more than one epoch to show that it reads them.
                    words += {"complete": ["--epochs", "1"], "cpd": ["--iters", "2"]}.get(words[0], [])
                    result = run(*words, cwd=self.folder)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertNotIn("was read as the value", result.stderr)
            stats = self.result(*shlex.split(one["commands"][1].replace(one["data"], str(path)))[1:])
            entries = len(text.splitlines()) - (0 if text[0].isdigit() or text.startswith(("name", "is")) else 1)
            with self.subTest(one["name"]):
                self.assertEqual(len(stats["dims"]), order)
                if one["name"] not in ("gowalla-lists", "epinions-trust"):
                    self.assertEqual(stats["nnz"] + stats["duplicates"], entries)


if __name__ == "__main__":
    unittest.main()
