#include "polyad/tasks/context.hpp"

#include <fmt/format.h>

#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/tasks/program.hpp"

namespace polyad {
namespace {

std::shared_ptr<Progress> progress_of(const Comm& comm, const ContextOptions& options) {
  return std::make_shared<Progress>(comm.rank() == 0 ? options.on_progress : ProgressFn());
}

void check(const ContextOptions& options) {
  if (options.threads < 0 || options.threads > max_threads)
    throw Error(Errc::bad_option, fmt::format("{} {}: expected 1 to {}, or 0 for as many as OpenMP has",
                                              option_name("threads"), options.threads, max_threads));
}

}  // namespace

Context::Context(Comm comm, ContextOptions options)
    : comm_(std::move(comm)), options_(std::move(options)), progress_(progress_of(comm_, options_)) {
  check(options_);
}

Context::Context(Comm comm, ContextOptions options, std::shared_ptr<Progress> progress)
    : comm_(std::move(comm)), options_(std::move(options)), progress_(std::move(progress)) {
  check(options_);
}

Context Context::serial(ContextOptions options) {
  return Context(Comm::self(), std::move(options));
}

void Context::tell(const Message& message) const {
  if (comm_.rank() != 0 || !options_.on_message) return;
  const auto as_is = [](const std::string& field) { return field; };
  const auto text = with_option_names(message.text, options_.option_names ? options_.option_names : as_is);
  options_.on_message({message.kind, text});
}

void warn_of_memory(const Context& context, Index peak_bytes, Index max_bytes) {
  if (max_bytes == 0 || peak_bytes <= max_bytes) return;
  context.warn(fmt::format("a process took {} of memory, more than the {} that {} allows",
                           with_prefix(double(peak_bytes), "B"), with_prefix(double(max_bytes), "B"),
                           option_name("max_memory_bytes")));
}

}  // namespace polyad
