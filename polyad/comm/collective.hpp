#pragma once

#include <concepts>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "polyad/base/call_ref.hpp"
#include "polyad/base/error.hpp"
#include "polyad/comm/comm.hpp"

namespace polyad {

// Converts any exception to Error: std::bad_alloc to Errc::resource, unknown ones to Errc::internal.
Error as_error(const std::exception_ptr& exception);

// If any rank has an error, every rank throws that of the lowest such rank, with its code, message and
// position. Collective.
void throw_together(const Comm& comm, const std::optional<Error>& mine);

// What collectively() does with a function that returns nothing, compiled once. Collective.
void run_together(const Comm& comm, CallRef<void()> fn);

// Runs fn on every rank and returns what it returns; if it throws on any rank, every rank throws the
// error of the lowest such rank, so that no rank waits for one that has left. fn must not communicate.
// Collective.
template <std::invocable Fn>
std::invoke_result_t<Fn> collectively(const Comm& comm, Fn&& fn) {
  using Result = std::invoke_result_t<Fn>;
  static_assert(!std::is_reference_v<Result>, "return a value");
  if constexpr (std::is_void_v<Result>) {
    run_together(comm, [&] { std::forward<Fn>(fn)(); });
  } else {
    std::optional<Result> result;
    run_together(comm, [&] { result.emplace(std::forward<Fn>(fn)()); });
    return std::move(*result);
  }
}

}  // namespace polyad
