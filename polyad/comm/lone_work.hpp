#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include "polyad/base/call_ref.hpp"
#include "polyad/comm/comm.hpp"

namespace polyad {

// What alone() does with a function that returns nothing, compiled once. Collective.
void run_alone(const Comm& comm, int root, CallRef<void()> fn);

// Runs fn on one rank, with as many threads as all ranks of its machine have together, on the processor cores
// of all of them. The others sleep meanwhile, without a time limit. Returns what fn returns, on other ranks a
// value-initialised object; if fn throws, every rank throws that error. fn must not communicate, and it runs
// in another thread than the caller. Threads that the environment binds to cores (OMP_PROC_BIND) stay alone.
// Collective.
template <std::invocable Fn>
std::invoke_result_t<Fn> alone(const Comm& comm, int root, Fn fn) {
  using Result = std::invoke_result_t<Fn>;
  if constexpr (std::is_void_v<Result>) {
    run_alone(comm, root, fn);
  } else {
    std::optional<Result> result;
    run_alone(comm, root, [&] { result.emplace(fn()); });
    return result ? std::move(*result) : Result{};
  }
}

}  // namespace polyad
