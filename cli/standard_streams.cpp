#include "cli/standard_streams.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <initializer_list>

namespace polyad::cli {

void prepare_standard_streams() noexcept {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1 && open("/dev/null", O_RDWR) == -1) break;  // the lowest that is free
  std::signal(SIGPIPE, SIG_IGN);
}

bool has_lost_output() noexcept {
  std::fflush(stdout);
  if (std::ferror(stdout) == 0) return false;
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) < 0 || (output.revents & (POLLERR | POLLHUP)) == 0;
}

}  // namespace polyad::cli
