#include "polyad/io/bytes/download.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>

#include "polyad/base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

// A program that is called as curl or wget would be, made of lines for sh.
Downloader script(const test::TemporaryFolder& folder, const std::string& lines) {
  folder.write("curl", "#!/bin/sh\n" + lines);
  chmod((folder / "curl").c_str(), 0755);
  return {Downloader::Kind::curl, folder / "curl"};
}

std::string all_of(Download& download) {
  std::array<char, 1000> buffer{};
  std::string bytes;
  while (const auto got = download.read(buffer)) bytes.append(buffer.data(), got);
  return bytes;
}

TEST(Download, has_the_bytes_that_the_program_writes) {
  const test::TemporaryFolder folder;
  const auto program =
      script(folder, "for word; do last=$word; done; printf '%s and %s' \"$last\" \"$LC_ALL\"");
  // A shell would take the address for a command.
  Download download(program, "https://host/$(touch /tmp/x);x");
  EXPECT_EQ(all_of(download), "https://host/$(touch /tmp/x);x and C");
  EXPECT_EQ(download.finish(), "");
}

TEST(Download, has_many_bytes) {
  const test::TemporaryFolder folder;
  Download download(script(folder, "head -c 1234567 /dev/zero"), "https://host/x");
  EXPECT_EQ(all_of(download), std::string(1234567, '\0'));
  EXPECT_EQ(download.finish(), "");
}

TEST(Download, says_what_went_wrong_in_the_words_of_the_program) {
  const test::TemporaryFolder folder;
  struct Case {
    const char *lines, *fault;
  };
  for (const auto& [lines, fault] :
       {Case{"exit 7", "curl ended with exit code 7"},
        {"echo some; echo 'curl: (22) first' >&2; exit 22", "curl: (22) first"},
        {"printf 'first\\nfailed: refused.\\n' >&2; exit 4", "curl: failed: refused"},
        {"echo '2026-11-17 14:19:03 ERROR 404: not there.' >&2; exit 8", "curl: ERROR 404: not there"},
        {"head -c 9999 /dev/zero | tr '\\0' 'x' >&2; echo >&2; echo last >&2; exit 1", "curl: last"},
        {"kill -9 $$", "curl was ended by signal 9"}}) {
    Download download(script(folder, lines), "https://host/x");
    all_of(download);
    EXPECT_EQ(download.finish(), fault);
  }
}

TEST(Download, ends_the_program_that_is_no_longer_needed) {
  const test::TemporaryFolder folder;
  {
    Download download(script(folder, "echo begin; exec sleep 600"), "https://host/x");
    std::array<char, 5> begin{};
    EXPECT_EQ(download.read(begin), 5U);
  }  // does not take ten minutes
}

TEST(Download, cannot_be_started_without_its_program) {
  const test::TemporaryFolder folder;
  try {
    const Download download({Downloader::Kind::curl, folder / "curl"}, "https://host/x");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::resource);
    EXPECT_STREQ(e.what(), "curl cannot be started: No such file or directory");
  }
}

TEST(Download, leaves_https_for_https_only) {
  for (const auto kind : {Downloader::Kind::curl, Downloader::Kind::wget}) {
    const auto words = download_command({kind, "/bin/x"}, "https://host/x");
    EXPECT_EQ(words.back(), "https://host/x");
    for (const auto& word : words) EXPECT_EQ(word.find("http,"), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace polyad::io
