#include "polyad/io/bytes/download.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include "polyad/base/error.hpp"

namespace polyad::io {
namespace {

// Seconds without a byte after which a download has failed.
constexpr int max_silence = 60;

[[noreturn]] void fail_to_start(const std::string& name, int error) {
  throw Error(Errc::resource,
              fmt::format("{} cannot be started: {}", name, std::generic_category().message(error)));
}

// Words in the form that execve takes; they point into `words`.
std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Ours, with messages in English, which are shown inside of ours.
std::vector<std::string> environment_of_download() {
  std::vector<std::string> variables;
  for (char** each = environ; *each != nullptr; ++each)
    if (const std::string_view variable(*each); !variable.starts_with("LC_ALL="))
      variables.emplace_back(variable);
  variables.emplace_back("LC_ALL=C");
  return variables;
}

// How a new process begins: where its standard streams go, and that signals which are ignored here end it.
class SpawnSettings {
 public:
  SpawnSettings(int output, int messages) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

}  // namespace

std::optional<std::filesystem::path> find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    const auto program = std::filesystem::path(rest.substr(0, end)) / name;
    if (program.is_absolute() && access(program.c_str(), X_OK) == 0) return program;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

std::optional<Downloader> find_downloader() {
  if (auto curl = find_program("curl")) return Downloader{Downloader::Kind::curl, *curl};
  if (auto wget = find_program("wget")) return Downloader{Downloader::Kind::wget, *wget};
  return std::nullopt;
}

std::vector<std::string> download_command(const Downloader& downloader, const std::string& address) {
  const bool is_secure = address.starts_with("https://");
  const auto silence = std::to_string(max_silence);
  if (downloader.kind == Downloader::Kind::wget)
    return {"wget",
            "--no-config",
            "--no-hsts",
            "--no-cache",
            "--no-verbose",
            "--tries=1",
            "--timeout=" + silence,
            is_secure ? "--max-redirect=0" : "--max-redirect=5",
            "--output-document=-",
            address};
  const std::string protocols = is_secure ? "=https" : "=http,https";
  return {"curl",    "--disable",         "--silent",   "--show-error",  "--fail", "--globoff",
          "--proto", protocols,           "--location", "--max-redirs",  "5",      "--proto-redir",
          protocols, "--connect-timeout", silence,      "--speed-limit", "1",      "--speed-time",
          silence,   "--output",          "-",          address};
}

Download::Download(const Downloader& downloader, const std::string& address)
    : name_(downloader.path.filename().string()), messages_(std::tmpfile()) {
  if (!messages_) fail_to_start(name_, errno);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail_to_start(name_, errno);
  pipe_ = ends[0];
  const SpawnSettings settings(ends[1], fileno(messages_.get()));
  auto words = download_command(downloader, address), variables = environment_of_download();
  const auto arguments = pointers_to(words), environment = pointers_to(variables);
  const int failed = posix_spawn(&process_, downloader.path.c_str(), &settings.actions, &settings.attributes,
                                 arguments.data(), environment.data());
  close(ends[1]);
  if (failed == 0) return;
  close(std::exchange(pipe_, -1));
  fail_to_start(name_, failed);
}

Download::~Download() {
  if (pipe_ >= 0) close(pipe_);
  if (process_ <= 0) return;
  kill(process_, SIGTERM);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::size_t Download::read(std::span<char> into) {
  while (true) {
    const auto got = ::read(pipe_, into.data(), into.size());
    if (got >= 0) return std::size_t(got);
    if (errno != EINTR) throw Error(Errc::io, name_ + " cannot be read from");
  }
}

std::string Download::last_line_of_messages() const {
  std::array<char, 4096> text{};
  std::fseek(messages_.get(), 0, SEEK_END);
  const long size = std::ftell(messages_.get());
  std::fseek(messages_.get(), std::max(0L, size - long(text.size())), SEEK_SET);
  const auto got = std::fread(text.data(), 1, text.size(), messages_.get());
  std::string_view rest(text.data(), got);
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == ' ' || rest.back() == '.'))
    rest.remove_suffix(1);
  rest.remove_prefix(rest.find_last_of('\n') + 1);           // 0 if there is one line
  constexpr std::string_view time = "2026-11-17 14:19:03 ";  // with which wget begins a line
  const bool begins_with_time = rest.size() > time.size() && rest[4] == '-' && rest[7] == '-' &&
                                rest[13] == ':' && rest[16] == ':' && rest[19] == ' ';
  return std::string(begins_with_time ? rest.substr(time.size()) : rest);
}

std::string Download::finish() {
  int status = 0;
  while (waitpid(process_, &status, 0) < 0)
    if (errno != EINTR) throw Error(Errc::io, name_ + " cannot be waited for");
  process_ = -1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  if (WIFSIGNALED(status)) return fmt::format("{} was ended by signal {}", name_, WTERMSIG(status));
  if (const auto said = last_line_of_messages(); !said.empty())
    return said.starts_with(name_) ? said : name_ + ": " + said;
  return fmt::format("{} ended with exit code {}", name_, WEXITSTATUS(status));
}

}  // namespace polyad::io
