#include "polyad/base/unfinished_paths.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace polyad {
namespace {

// The list grows and its entries are used again, but they are never freed: a handler may be reading them.
// The thread that exchanges a path for null owns it.
struct Entry {
  std::atomic<char*> path{nullptr};  // 'f' or 'd', and then the path
  Entry* next = nullptr;
};
std::atomic<Entry*> first_entry{nullptr};
std::atomic<int> num_delays{0};
std::atomic<int> waiting_signal{0};
std::atomic<bool> handles_signals{false};
std::atomic<const char*> last_sentence{nullptr};
std::atomic<int> num_stoppable{0};
std::atomic<int> asked_to_stop{0};
std::atomic<bool> asked_to_save{false};

std::atomic<char*>* add(char* path) {
  for (Entry* entry = first_entry.load(); entry != nullptr; entry = entry->next)
    if (char* none = nullptr; entry->path.compare_exchange_strong(none, path)) return &entry->path;
  auto* entry = new Entry;
  entry->path = path;
  entry->next = first_entry.load();
  while (!first_entry.compare_exchange_weak(entry->next, entry)) {
  }
  return &entry->path;
}

// As the kernel returns them; readdir() may not be called by a handler.
struct KernelEntry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
  char name[1];
};

// Removes the files of a directory and then the directory; what lies deeper stays, and so does the directory.
void remove_directory(const char* path) {
  const int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) return;
  alignas(KernelEntry) std::array<char, 4096> buffer;
  for (bool found = true; found;) {
    found = false;  // entries may be skipped while others are removed: look again until none is removed
    lseek(directory, 0, SEEK_SET);
    long size = 0;
    while ((size = syscall(SYS_getdents64, directory, buffer.data(), buffer.size())) > 0)
      for (long at = 0; at < size;) {
        const auto* entry = reinterpret_cast<const KernelEntry*>(buffer.data() + at);
        found |= unlinkat(directory, entry->name, 0) == 0;
        at += entry->length;
      }
  }
  close(directory);
  rmdir(path);
}

void remove_all_unfinished() {
  for (Entry* entry = first_entry.load(); entry != nullptr; entry = entry->next) {
    const char* const path = entry->path.exchange(nullptr);
    if (path == nullptr) continue;
    if (*path == 'd')
      remove_directory(path + 1);
    else
      unlink(path + 1);
  }
}

void handle(int signal) {
  if (int none = 0; num_stoppable.load() > 0 && asked_to_stop.compare_exchange_strong(none, signal)) return;
  const int before = errno;
  waiting_signal = signal;
  if (num_delays.load() == 0 && waiting_signal.exchange(0) != 0) {
    remove_all_unfinished();
    if (const char* const sentence = last_sentence.load(); sentence != nullptr) {
      [[maybe_unused]] const auto written = write(STDERR_FILENO, sentence, std::strlen(sentence));
    }
    std::signal(signal, SIG_DFL);
    raise(signal);  // it is blocked until this handler returns, and then ends the process
  }
  errno = before;
}

}  // namespace

UnfinishedPath::UnfinishedPath(Kind kind, const std::string& path) {
  auto* copy = new char[path.size() + 2];
  *copy = kind == Kind::directory ? 'd' : 'f';
  std::memcpy(copy + 1, path.c_str(), path.size() + 1);
  slot_ = add(copy);
}

UnfinishedPath::~UnfinishedPath() {
  delete[] slot_->exchange(nullptr);
}

DelayedSignals::DelayedSignals() {
  ++num_delays;
}

DelayedSignals::~DelayedSignals() {
  if (--num_delays > 0) return;
  if (const int signal = waiting_signal.exchange(0); signal != 0) raise(signal);
}

void remove_unfinished_on_signals(const char* sentence) {
  handles_signals = true;
  last_sentence = sentence;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

StoppableWork::StoppableWork() {
  if (num_stoppable++ == 0) asked_to_stop = 0;
}

StoppableWork::~StoppableWork() {
  --num_stoppable;
}

bool StoppableWork::is_supported() {
  return handles_signals;
}

int StoppableWork::stop_signal() {
  return num_stoppable.load() > 0 ? asked_to_stop.load() : 0;
}

void save_on_signals() {
  for (const int signal : {SIGUSR1, SIGXCPU}) {
    struct sigaction action {};
    action.sa_handler = [](int) { asked_to_save = true; };
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

bool take_save_request() {
  return asked_to_save.exchange(false);
}

}  // namespace polyad
