#include "polyad/tasks/detail/ratings/prepare_ratings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "polyad/base/parallel.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/kernels/ratings/top_items.hpp"
#include "polyad/plan/completion_memory.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/ratings/choose_lists.hpp"
#include "polyad/tasks/detail/ratings/completion_input.hpp"
#include "polyad/tasks/detail/ratings/list_model.hpp"

namespace polyad::tasks {
namespace {

using Kind = TestRatings::Kind;

// The number of parts that ratings are distributed over.
int num_parts_of(const CompleteOptions& options, int processes) {
  const int asked_for = options.virtual_processes;
  if (asked_for != 0 && (asked_for < processes || asked_for > max_virtual_processes))
    throw Error(Errc::bad_option,
                fmt::format("{} {}: expected a number from that of processes, {}, to {}",
                            option_name("virtual_processes"), asked_for, processes, max_virtual_processes));
  return asked_for == 0 ? processes : asked_for;
}

RatingLayout layout_of(const CompleteOptions& options, int processes) {
  if (options.sync < CompleteOptions::sync_max || options.sync > processes)
    throw Error(
        Errc::bad_option,
        fmt::format("{} {}: expected sync_auto, sync_max, or a number from 1 to that of processes, {}",
                    option_name("sync"), options.sync, processes));
  RatingLayout layout;
  layout.num_parts = processes;
  if (options.random_owners) layout.owners = ColumnOwners::random;
  layout.centres = !options.no_bias;
  layout.seed = options.seed;
  layout.is_stale_free = options.sync == CompleteOptions::sync_max;
  if (options.sync > 0) layout.num_sub_epochs = options.sync;
  return layout;
}

// Moves ratings, and those of a given test, to the processes of their users; counts duplicates.
template <class Ready>
SplitRatings split_by_users(const Comm& comm, SplitRatings shares, const CompleteOptions& options,
                            const RowOwners& users, int num_parts, Ready& ready) {
  const auto places = places_of(comm, num_parts);
  auto own =
      move_to_users(comm, std::move(shares.train), users, split_of(options.test, options.seed), places);
  ready.num_duplicates = own.num_duplicates;
  if (options.test.kind == Kind::file || options.test.kind == Kind::tensor) {
    auto tested = move_to_users(comm, std::move(shares.test), users, {}, places);
    own.split.test = std::move(tested.split.train);
    ready.num_test_duplicates = tested.num_duplicates;
    ready.num_learned = comm.all_reduce(count_learned_tests(own.split));
  }
  return std::move(own.split);
}

[[noreturn]] void refuse(double bytes, Index limit, const std::string& what, const std::string& advice) {
  auto allowed = with_prefix(double(limit), "B");
  std::erase(allowed, ' ');
  throw Error(Errc::resource,
              fmt::format("{} would need about {}, more than {} {}; {}", what, with_prefix(bytes, "B"),
                          option_name("max_memory_bytes"), allowed, advice));
}

// Throws Error{resource} for more than is allowed.
void refuse_beyond(Index limit, const CompletionMemory& needs) {
  const double most = std::max({needs.train, needs.test, needs.finish});
  if (most <= double(limit)) return;
  if (needs.test == most)
    refuse(needs.test, limit, "comparing the model with means of users and items, on each process,",
           fmt::format("without {}, no process needs all of these", option_name("test")));
  if (needs.train == most)
    refuse(needs.train, limit, "training, on each process,",
           "fewer factors, single precision or more processes need less");
  refuse(needs.finish, limit, "gathering the model on one process, to save, rank or report it,",
         fmt::format("fewer factors or single precision need less, or {} 0 and neither saving nor reporting",
                     option_name("ranking")));
}

// The choice of settings of lists gathers and ranks as a test does. Collective.
AfterTraining with_choice(const Comm& comm, const CompleteOptions& options, const SplitRatings& own,
                          AfterTraining after) {
  after.ranks |= chooses_lists(options, comm.all_reduce(own.train.num_nonzeros()));
  return after;
}

// What the neighbours of items need on the process that ranks; `by`: the side of rows of `own`. Collective.
double neighbours_memory(const Comm& comm, const CompleteOptions& options, const SplitRatings& own,
                         const AfterTraining& after, RatingSide by = RatingSide::user) {
  const auto num_ratings = comm.all_reduce(own.train.num_nonzeros());
  const bool is_given = options.neighbours.value_or(0) > 0 && (after.ranks || after.reports);
  if (!chooses_lists(options, num_ratings) && !is_given) return 0;
  using kernels::ItemNeighbours;
  const Index num_items = own.train.extent(by == RatingSide::user ? 1 : 0);
  const double similar = double(num_items) * double(ItemNeighbours::max_count) *
                         (sizeof(kernels::CandidateTerm) + sizeof(std::int32_t) + sizeof(float));
  const double terms = std::min(double(num_threads()) * double(kernels::max_neighbour_terms(num_items)),
                                double(num_ratings) * double(ItemNeighbours::max_count));
  return double(num_ratings) * (2 * sizeof(std::int32_t) + sizeof(float)) + similar +
         double(num_threads()) * double(num_items) * (sizeof(double) + sizeof(kernels::CandidateTerm)) +
         terms * sizeof(kernels::CandidateTerm);
}

// Throws Error{resource} when a process is predicted to need more than is allowed. Collective.
template <class Real>
void check_memory(const Comm& comm, const CompleteOptions& options, const ReadyRatings<Real>& ready) {
  const Index limit = options.max_memory_bytes;
  if (limit == 0) return;
  const Index num_test = comm.all_reduce(ready.distributed.split.test.num_nonzeros());
  const AfterTraining after{options.will_save, options.ranking > 0 && num_test > 0, options.will_report};
  const Index num_earlier =
      ready.earlier ? ready.earlier->model.num_users() + ready.earlier->model.num_items() : 0;
  auto needs = predict_completion_memory<Real>(comm, ready.distributed, options.factors, after, num_earlier);
  if (trains_lists(options)) {
    const auto& own = ready.distributed.split;
    const auto lists = predict_least_squares_memory<Real>(
        comm, own, options.factors, with_choice(comm, options, own, after), Beside::model_of_ratings);
    needs.train = std::max(needs.train, lists.train);
    needs.finish = std::max(
        needs.finish, lists.finish + neighbours_memory(comm, options, own, after, ready.distributed.by));
  }
  refuse_beyond(limit, needs);
}

// The same for least squares. Collective.
template <class Real>
void check_least_squares_memory(const Comm& comm, const CompleteOptions& options, const SplitRatings& own) {
  if (options.max_memory_bytes == 0) return;
  const Index num_test = comm.all_reduce(own.test.num_nonzeros());
  const AfterTraining after = with_choice(
      comm, options, own, {options.will_save, options.ranking > 0 && num_test > 0, options.will_report});
  auto needs = predict_least_squares_memory<Real>(comm, own, options.factors, after, Beside::nothing);
  if (trains_lists(options)) {
    const auto lists =
        predict_least_squares_memory<Real>(comm, own, options.factors, after, Beside::model_of_ratings);
    needs = {std::max(needs.train, lists.train), 0, std::max(needs.finish, lists.finish)};
  }
  needs.finish += neighbours_memory(comm, options, own, after);
  refuse_beyond(options.max_memory_bytes, needs);
}

[[noreturn]] void refuse_no_ratings(const CompleteOptions& options, const std::string& path) {
  throw Error(Errc::bad_input,
              options.test.kind == Kind::none ? "has no ratings"
                                              : option_name("test") + " leaves no rating to learn from",
              {path, 0});
}

// What would end in nonsense after all epochs is refused before the first.
template <class Real>
void check_ratings(const DistRatings<Real>& x, const CompleteOptions& options, const std::string& path) {
  if (x.num_ratings == 0) refuse_no_ratings(options, path);
  const bool is_single = sizeof(Real) == sizeof(float);
  const double max_number = is_single ? 1e30 : 1e150;
  if (!(x.scale < max_number && x.scale > 1 / max_number && std::abs(x.mean) < max_number))
    throw Error(Errc::bad_input,
                fmt::format("the ratings, of mean {:.3g} and deviation {:.3g}, are beyond {} precision",
                            x.mean, x.scale, is_single ? "single" : "double"),
                {path, 0});
}

template <class Ready>
void warn_of_ratings(const Context& context, const Ready& ready, Index num_test, const std::string& path,
                     const TestRatings& test) {
  const auto of = [](const std::string& file) { return file.empty() ? "" : file + ": "; };
  const auto warn_of_repeated = [&](const std::string& file, Index count) {
    if (count > 0)
      context.warn(of(file) + report::counted_were(count, "rating") +
                   " repeated by a later line, and dropped");
  };
  warn_of_repeated(path, ready.num_duplicates);
  warn_of_repeated(test.file.string(), ready.num_test_duplicates);
  if (test.kind != Kind::none && num_test == 0)
    context.warn(fmt::format("{} {}: there is nothing to test on", option_name("test"), name_of(test)));
  if (ready.num_unknown > 0)
    context.warn(of(test.file.string()) + report::counted_were(ready.num_unknown, "rating") +
                 " left out, of users or items that the training ratings do not have");
}

}  // namespace

RatingSplit split_of(const TestRatings& test, std::uint64_t seed) {
  RatingSplit split;
  split.seed = seed;
  if (test.kind == Kind::leave_one_out) split.kind = RatingSplit::Kind::leave_one_out;
  if (test.kind == Kind::fraction) split.kind = RatingSplit::Kind::fraction;
  split.fraction = test.fraction;
  return split;
}

bool uses_least_squares(const CompleteOptions& options) {
  return options.implicit || options.method == CompletionMethod::als;
}

int cg_steps_of(const CompleteOptions& options) {
  constexpr int usual_steps = 3;
  const bool is_large =
      options.factors >= CompleteOptions::cg_from_factors && options.device.kind != Device::Kind::gpu;
  const bool is_cg = options.solver == RowSolver::cg || (options.solver == RowSolver::automatic && is_large);
  return is_cg ? options.cg_steps.value_or(usual_steps) : 0;
}

Shrinkage shrinkage_of(const CompleteOptions& options) {
  const Shrinkage usual = options.implicit ? list_shrinkage : Shrinkage{};
  return {options.regularisation.value_or(usual.per_rating), options.shrinkage.value_or(usual.per_row)};
}

void warn_of_learned(const Context& context, Index num_learned, Index num_test, const std::string& kind,
                     const std::string& path) {
  if (num_learned == 0) return;
  context.warn(
      fmt::format("{}{}{} of {} {} of a user and an item that also have a training rating: {} errors "
                  "say little about unknown ratings",
                  path, path.empty() ? "" : ": ", report::with_commas(num_learned),
                  report::counted(num_test, kind + " rating"), num_learned == 1 ? "is" : "are", kind));
}

std::string name_of(const TestRatings& test) {
  switch (test.kind) {
    case Kind::none:
      return "none";
    case Kind::fraction:
      return fmt::format("{}", test.fraction);
    case Kind::leave_one_out:
      return "leave-one-out";
    case Kind::file:
      return test.file.string();
    case Kind::tensor:
      return "tensor";
  }
  return "";
}

template <class Real>
ReadyRatings<Real> prepare_ratings(const Context& context, Tensor ratings, const CompleteOptions& options,
                                   const CompletionOptions& training, const MachineModel& machine) {
  const Comm& comm = context.comm();
  auto layout = layout_of(options, num_parts_of(options, comm.size()));
  layout.row = {options.factors, travelling_words(training).per_row(), sizeof(Real)};
  layout.machine = machine;
  Stopwatch watch;
  ReadyRatings<Real> ready(comm);
  collectively(comm, [&] {
    require_ratings(ratings, {double(options.factors) * sizeof(Real), comm.size()});
  });
  auto given = load_test(context, options.test, ratings);
  ready.num_unknown = given.num_unknown;
  if (!options.resume.empty()) ready.earlier = load_earlier<Real>(comm, ratings, options);
  ready.load_seconds = ratings.load_seconds + watch.lap();

  ready.distributed = context.progress().during("distributing ratings", [&] {
    const auto owners = own_sides(context, ratings.tensor, options, layout.num_parts);
    // To hold out one rating of a user all must be seen: first to users, also where items are distributed.
    const RowOwners any = ShuffledParts(ratings.tensor.extent(0), layout.num_parts, options.seed);
    auto split = split_by_users(comm, {std::move(ratings.tensor), std::move(given.share)}, options,
                                owners.users.value_or(any), layout.num_parts, ready);
    return distribute(comm, std::move(split), owners, layout);
  });
  if (ready.earlier) ready.earlier = transposed(std::move(*ready.earlier), ready.distributed.by);
  check_memory(comm, options, ready);
  auto& distributed = ready.distributed;
  ready.x = lay_out_ratings<Real>(comm, distributed.split, distributed.owners,
                                  std::move(distributed.rotation), layout);
  check_ratings(ready.x, options, ratings.path);
  ready.labels = std::move(ratings.labels);
  ready.distribute_seconds = watch.lap();
  warn_of_ratings(context, ready, ready.x.num_test, ratings.path, options.test);
  return ready;
}

SplitTask split_ratings(const Context& context, Tensor ratings, const CompleteOptions& options) {
  const Comm& comm = context.comm();
  Stopwatch watch;
  SplitTask task;
  const double value_bytes = options.precision == Precision::float32 ? sizeof(float) : sizeof(double);
  collectively(comm, [&] { require_ratings(ratings, {double(options.factors) * value_bytes, comm.size()}); });
  auto given = load_test(context, options.test, ratings);
  task.num_unknown = given.num_unknown;
  task.load_seconds = ratings.load_seconds + watch.lap();
  task.extents = ratings.tensor.extents();
  task.split = context.progress().during("distributing ratings", [&] {
    const RowOwners users = ShuffledParts(ratings.tensor.extent(0), comm.size(), options.seed);
    return split_by_users(comm, {std::move(ratings.tensor), std::move(given.share)}, options, users,
                          comm.size(), task);
  });
  task.labels = std::move(ratings.labels);
  if (comm.all_reduce(task.split.train.num_nonzeros()) == 0) refuse_no_ratings(options, ratings.path);
  if (options.precision == Precision::float32)
    check_least_squares_memory<float>(comm, options, task.split);
  else
    check_least_squares_memory<double>(comm, options, task.split);
  task.distribute_seconds = watch.lap();
  warn_of_ratings(context, task, comm.all_reduce(task.split.test.num_nonzeros()), ratings.path, options.test);
  return task;
}

template ReadyRatings<float> prepare_ratings(const Context&, Tensor, const CompleteOptions&,
                                             const CompletionOptions&, const MachineModel&);
template ReadyRatings<double> prepare_ratings(const Context&, Tensor, const CompleteOptions&,
                                              const CompletionOptions&, const MachineModel&);

}  // namespace polyad::tasks
