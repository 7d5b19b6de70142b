#include <fmt/format.h>

#include <algorithm>

#include "polyad/tasks/decompose.hpp"
#include "polyad/tasks/detail/choose_device.hpp"
#include "polyad/tasks/detail/decide_distribution.hpp"
#include "polyad/tasks/detail/task_checks.hpp"

namespace polyad {
namespace {

void require_share(double test_fraction) {
  if (!(test_fraction >= 0 && test_fraction < 1))
    tasks::refuse_option(fmt::format("{} {}: expected a share between 0 and 1, as in 0.1",
                                     option_name("test"), test_fraction));
}

void check_missing(const MissingOptions& options) {
  tasks::require_not_negative("regularisation", options.regularisation);
  require_share(options.test_fraction);
  tasks::require_not_negative("patience", options.patience);
}

void check_implicit(const ImplicitOptions& options) {
  tasks::require_not_negative("alpha", options.alpha);
  tasks::require_not_negative("regularisation", options.regularisation.value_or(0));
  tasks::require_not_negative("shrinkage", options.shrinkage.value_or(0));
  require_share(options.test_fraction);
}

// Of decompositions in which every row has a system of its own.
void check_row_systems(const DecomposeOptions& options) {
  const auto asked = option_name(options.missing ? "DecomposeOptions::missing" : "implicit");
  const auto require = [&](bool holds, const std::string& what) {
    if (!holds) tasks::refuse_option(asked + " requires " + what);
  };
  require(options.method == Method::als, option_name("method") + " als");
  require(options.start != Start::svd, "a random start or a model: singular vectors (" +
                                           option_name("start") + " svd) take all cells for known");
  const auto& replicated = options.distribution.is_replicated;
  require(!replicated || std::ranges::count(*replicated, true) == 0,
          option_name("is_replicated") + " none: the systems of rows are solved by their owners");
  if (!options.missing) return;
  const bool is_nonnegative = options.nonnegative || !options.nonnegative_modes.empty();
  if (options.missing->has_biases && is_nonnegative)
    tasks::refuse_option(fmt::format("{} and {} exclude each other: biases may be negative",
                                     option_name("has_biases"), option_name("nonnegative")));
  if (options.missing->weights && options.distribution.scheme == Scheme::fine)
    tasks::refuse_option(
        fmt::format("{} requires {} coarse or medium: in fine grain cells are counted, and those of the "
                    "weights may have another order",
                    option_name("MissingOptions::weights"), option_name("scheme")));
}

}  // namespace

void validate(const DecomposeOptions& options) {
  if (options.rank < 1 || options.rank > max_rank)
    tasks::refuse_option(
        fmt::format("{} {}: expected a number from 1 to {}", option_name("rank"), options.rank, max_rank));
  if (options.max_iterations < 0)
    tasks::refuse_option(
        fmt::format("{} {}: expected 0 or more", option_name("max_iterations"), options.max_iterations));
  if (!(options.tolerance >= 0))
    tasks::refuse_option(
        fmt::format("{} {}: expected 0 or more", option_name("tolerance"), options.tolerance));
  tasks::require_enumerator("start", options.start, Start::svd);
  if (options.start == Start::svd && options.start_model)
    tasks::refuse_option(
        fmt::format("{} svd and {} exclude each other", option_name("start"), option_name("start_model")));
  tasks::require_num_starts(options.num_starts);
  tasks::require_memory_limit(options.max_memory_bytes);
  tasks::require_enumerator("method", options.method, Method::opt);
  tasks::require_enumerator("precision", options.precision, Precision::float32);
  tasks::require_enumerator("format", options.format, StorageFormat::hicoo);
  tasks::checked(options.distribution);
  tasks::check_device(options);
  if (options.checkpoint) validate(*options.checkpoint);
  tasks::require_not_negative("max_seconds", options.max_seconds);
  if (options.missing && options.implicit)
    tasks::refuse_option(fmt::format("{} and {} exclude each other", option_name("DecomposeOptions::missing"),
                                     option_name("implicit")));
  if (options.missing) check_missing(*options.missing);
  if (options.implicit) check_implicit(*options.implicit);
  if (options.missing || options.implicit) check_row_systems(options);
  if (options.method == Method::als) return;
  if (options.nonnegative || !options.nonnegative_modes.empty())
    tasks::refuse_option(
        fmt::format("{} requires {} als", option_name("nonnegative"), option_name("method")));
  if (!options.mode_order.empty())
    tasks::refuse_option(fmt::format("{} requires {} als: opt updates all modes at once",
                                     option_name("mode_order"), option_name("method")));
  const auto& replicated = options.distribution.is_replicated;
  if (replicated && std::ranges::count(*replicated, true) > 0)
    tasks::refuse_option(
        fmt::format("{} requires {} als", option_name("is_replicated"), option_name("method")));
}

}  // namespace polyad
