#include "polyad/tasks/context.hpp"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/tasks/program.hpp"

namespace polyad {

// The first exception of a callback. Callbacks are called by two threads.
class Context::CallbackFailure {
 public:
  // Runs a callback, unless one has failed before.
  template <class Fn>
  void guard(Fn call) {
    const std::lock_guard lock(mutex_);
    if (first_) return;
    try {
      call();
    } catch (...) {
      first_ = std::current_exception();
    }
  }
  std::exception_ptr take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(first_, nullptr);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

namespace {

void check(const ContextOptions& options) {
  if (options.threads < 0 || options.threads > max_threads)
    throw Error(Errc::bad_option, fmt::format("{} {}: expected 1 to {}, or 0 for as many as OpenMP has",
                                              option_name("threads"), options.threads, max_threads));
}

}  // namespace

Context::Context(Comm comm, ContextOptions options) : Context(std::move(comm), std::move(options), nullptr) {
  ProgressFn show;
  if (comm_.rank() == 0 && options_.on_progress)
    show = [failure = failure_, call = options_.on_progress](const ProgressState& state) {
      failure->guard([&] { call(state); });
    };
  progress_ = std::make_shared<Progress>(std::move(show));
}

Context::Context(Comm comm, ContextOptions options, std::shared_ptr<Progress> progress)
    : comm_(std::move(comm)),
      options_(std::move(options)),
      failure_(std::make_shared<CallbackFailure>()),
      progress_(std::move(progress)) {
  check(options_);
}

Context Context::serial(ContextOptions options) {
  return Context(Comm::self(), std::move(options));
}

void Context::tell(const Message& message) const {
  if (comm_.rank() != 0 || !options_.on_message) return;
  failure_->guard([&] { options_.on_message({message.kind, shown(message.text)}); });
}

std::string Context::shown(const std::string& text) const {
  const auto as_is = [](const std::string& field) { return field; };
  return with_option_names(text, options_.option_names ? options_.option_names : as_is);
}

std::exception_ptr Context::take_callback_failure() const {
  return failure_->take();
}

void warn_of_memory(const Context& context, Index peak_bytes, Index max_bytes) {
  if (max_bytes == 0 || peak_bytes <= max_bytes) return;
  context.warn(fmt::format("a process took {} of memory, more than the {} that {} allows",
                           with_prefix(double(peak_bytes), "B"), with_prefix(double(max_bytes), "B"),
                           option_name("max_memory_bytes")));
}

}  // namespace polyad
