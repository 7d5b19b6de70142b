#include "polyad/comm/collective.hpp"

#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace polyad {
namespace {

std::string broadcast_text(const Comm& comm, const std::string& text, int root) {
  std::vector<char> letters(text.begin(), text.end());
  comm.broadcast(letters, root);
  return {letters.begin(), letters.end()};
}

}  // namespace

Error as_error(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {Errc::resource, "out of memory"};
  } catch (const std::length_error&) {  // a vector that no memory could hold
    return {Errc::resource, "out of memory: a list longer than memory can be was asked for"};
  } catch (const std::exception& stranger) {
    return {Errc::internal, stranger.what()};
  } catch (...) {
    return {Errc::internal, "an exception of unknown type"};
  }
}

void throw_together(const Comm& comm, const std::optional<Error>& mine) {
  const int culprit = comm.all_reduce(mine ? comm.rank() : comm.size(), Reduce::min);
  if (culprit == comm.size()) return;

  const Error error = mine.value_or(Error(Errc::internal, ""));  // only the culprit's is sent
  const Errc code = comm.broadcast(error.code(), culprit);
  const std::string message = broadcast_text(comm, error.message(), culprit);
  const std::string file = broadcast_text(comm, error.input().file, culprit);
  const std::int64_t line = comm.broadcast(error.input().line, culprit);
  throw Error(code, message, {file, line});
}

void run_together(const Comm& comm, CallRef<void()> fn) {
  std::optional<Error> mine;
  try {
    fn();
  } catch (...) {
    mine = as_error(std::current_exception());
  }
  throw_together(comm, mine);
}

}  // namespace polyad
