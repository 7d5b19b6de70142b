#include "polyad/plan/completion_memory.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "polyad/base/memory.hpp"
#include "polyad/kernels/cp/factor.hpp"

namespace polyad {
namespace {

constexpr double bytes_of_rating = 24;  // as it is read: user, item, value

// A row of factors, with its bias and its sum of squared gradients.
template <class Real>
double bytes_of_row(Index num_factors) {
  return double(kernels::padded_components(num_factors) + 2) * sizeof(Real);
}

double ratings_of(const DistributedRatings& own) {
  return double(own.split.train.num_nonzeros() + own.split.test.num_nonzeros());
}

// Rows of the side that travels which a process has: of each part those that it has ratings of.
double travelling_rows(const Comm& comm, const DistributedRatings& own) {
  const auto& columns = own.rotation.columns;
  const auto places = places_of(comm, columns.num_parts);
  const int first = places.first(comm.rank()), end = places.first(comm.rank() + 1);
  const auto all = double(own.split.train.extent(1));
  if (end - first == 1) return all;
  const auto shares =
      std::ranges::count_if(columns.parts, [&](int part) { return part >= first && part < end; });
  return double(shares) + std::min(all * (end - first), double(own.split.test.num_nonzeros()));
}

// Ratings three times: as they came, sorted, and arranged in blocks. Rows three times: as they are, as before
// the epoch, and as in the best epoch. And who has which share of the rows that travel.
template <class Real>
double bytes_to_train(const Comm& comm, const DistributedRatings& own, Index num_factors) {
  constexpr double bytes_of_share = 40;
  const auto& train = own.split.train;
  return ratings_of(own) * (2 * bytes_of_rating + 2 * sizeof(LocalRating<Real>)) +
         3 * bytes_of_row<Real>(num_factors) *
             (double(train.extent(0)) / comm.size() + travelling_rows(comm, own)) +
         bytes_of_share * double(own.rotation.columns.num_shares());
}

// The ratings and the rows of this process.
template <class Real>
double bytes_left_of_training(const Comm& comm, const DistributedRatings& own, Index num_factors) {
  const auto& train = own.split.train;
  return ratings_of(own) * (bytes_of_rating + sizeof(LocalRating<Real>)) +
         bytes_of_row<Real>(num_factors) *
             (double(train.extent(0)) / comm.size() + travelling_rows(comm, own));
}

// Of measure_baselines: a sum and a count per item; then an offset per item, and a sum and a count per user.
// MPI adds up an array in another one of its length.
double bytes_of_baselines(const Comm& comm, const DistributedRatings& own) {
  const auto& train = own.split.train;
  const int user = mode_of(own.by);
  const auto users = double(train.extent(user)), items = double(train.extent(1 - user));
  const int num_arrays = comm.size() > 1 ? 3 : 2;
  return sizeof(double) * std::max(num_arrays * items, items + num_arrays * users);
}

// Of the process that gathers the model: what is left of training, all rows as they arrive and as the model
// has them, all ratings; and where users are looked at, their ratings grouped by user, and the items packed.
template <class Real>
double bytes_to_finish(const Comm& comm, const DistributedRatings& own, Index num_all, Index num_factors,
                       const AfterTraining& after) {
  const auto& train = own.split.train;
  const auto distributed = double(train.extent(0)), travelling = double(train.extent(1));
  const double row = bytes_of_row<Real>(num_factors);
  const bool looks_at_users = after.ranks || after.reports;
  const double packed = looks_at_users ? row * double(train.extent(1 - mode_of(own.by))) : 0;
  const double grouped = looks_at_users ? 16 : 0;
  return bytes_left_of_training<Real>(comm, own, num_factors) +
         (2 * row + sizeof(Index)) * (distributed + travelling) + packed +
         double(num_all) * (bytes_of_rating + grouped);
}

double num_different(std::span<const Index> rows) {
  std::vector<Index> sorted(rows.begin(), rows.end());
  std::ranges::sort(sorted);
  return double(std::ranges::unique(sorted).begin() - sorted.begin());
}

// Users and items whose rows a process has: its own, and of others those that its ratings need.
struct RowsInReach {
  double all = 0;
  double of_larger_side = 0;  // which are kept a second time, in another basis, while rows are solved
};
RowsInReach rows_in_reach(const Comm& comm, const SplitRatings& own) {
  RowsInReach rows;
  for (int m = 0; m < 2; ++m) {
    const double different = num_different(own.train.indices(m)) + num_different(own.test.indices(m));
    const double of_side = std::min(comm.size() > 1 ? 2 * different : different, double(own.train.extent(m)));
    rows.all += of_side;
    rows.of_larger_side = std::max(rows.of_larger_side, of_side);
  }
  return rows;
}

// Ratings as they are kept, as cells with weights, and as trees of users and of items; on several processes,
// which have all cells of both their users and their items, also on their way.
template <class Real>
double bytes_of_least_squares(const Comm& comm, const SplitRatings& own, Index num_factors) {
  const double bytes_of_cell = comm.size() > 1 ? 150 : 96 + 2 * sizeof(Real);
  constexpr double bytes_of_weight = 8, bytes_of_place = 32;
  const auto count = double(own.train.num_nonzeros() + own.test.num_nonzeros());
  const bool tests = own.test.num_nonzeros() > 0;
  const auto rows = rows_in_reach(comm, own);
  const double row = bytes_of_row<Real>(num_factors);
  return count * (bytes_of_cell + (tests ? bytes_of_weight : 0)) +
         rows.all * ((tests ? 3 : 2) * row + bytes_of_place) + rows.of_larger_side * row;
}

// All rows and ratings on one process, which arrive, are sorted, and are grouped by user.
template <class Real>
double bytes_to_finish_least_squares(const SplitRatings& own, Index num_all, Index num_factors,
                                     const AfterTraining& after) {
  constexpr double bytes_of_sorted = 64, bytes_of_grouped = 16, bytes_of_place = 32;
  const double rows = double(own.train.extent(0)) + double(own.train.extent(1));
  const double row = bytes_of_row<Real>(num_factors);
  const bool looks_at_users = after.ranks || after.reports;
  return bytes_of_rating * double(own.train.num_nonzeros() + own.test.num_nonzeros()) +
         rows * (row + bytes_of_place) +
         (looks_at_users ? row * double(std::max(own.train.extent(0), own.train.extent(1))) : 0) +
         double(num_all) * (bytes_of_sorted + (looks_at_users ? bytes_of_grouped : 0));
}

}  // namespace

template <class Real>
CompletionMemory predict_least_squares_memory(const Comm& comm, const SplitRatings& own, Index num_factors,
                                              const AfterTraining& after, Beside beside) {
  const Index num_own = own.train.num_nonzeros() + own.test.num_nonzeros();
  const Index num_all = comm.all_reduce(num_own);
  double always = double(program_bytes());
  if (beside == Beside::model_of_ratings)
    always += bytes_of_row<Real>(num_factors) * (double(own.train.extent(0)) + double(own.train.extent(1))) +
              double(num_own) * sizeof(LocalRating<Real>);
  const double train = always + bytes_of_least_squares<Real>(comm, own, num_factors);
  const double finish = after.gathers() && comm.rank() == 0
                            ? always + bytes_to_finish_least_squares<Real>(own, num_all, num_factors, after)
                            : 0;
  return {comm.all_reduce(train, Reduce::max), 0, comm.all_reduce(finish, Reduce::max)};
}

template <class Real>
CompletionMemory predict_completion_memory(const Comm& comm, const DistributedRatings& own, Index num_factors,
                                           const AfterTraining& after, Index num_earlier_rows) {
  const Index num_all = comm.all_reduce(own.split.train.num_nonzeros() + own.split.test.num_nonzeros());
  const double always = double(program_bytes()) + bytes_of_row<Real>(num_factors) * double(num_earlier_rows);
  const bool gathers = after.gathers() && comm.rank() == 0;
  const double train = always + bytes_to_train<Real>(comm, own, num_factors);
  const bool tests = comm.all_reduce(own.split.test.num_nonzeros()) > 0;
  const double test =
      tests ? always + bytes_left_of_training<Real>(comm, own, num_factors) + bytes_of_baselines(comm, own)
            : 0;
  const double finish = gathers ? always + bytes_to_finish<Real>(comm, own, num_all, num_factors, after) : 0;
  return {comm.all_reduce(train, Reduce::max), comm.all_reduce(test, Reduce::max),
          comm.all_reduce(finish, Reduce::max)};
}

template CompletionMemory predict_least_squares_memory<float>(const Comm&, const SplitRatings&, Index,
                                                              const AfterTraining&, Beside);
template CompletionMemory predict_least_squares_memory<double>(const Comm&, const SplitRatings&, Index,
                                                               const AfterTraining&, Beside);
template CompletionMemory predict_completion_memory<float>(const Comm&, const DistributedRatings&, Index,
                                                           const AfterTraining&, Index);
template CompletionMemory predict_completion_memory<double>(const Comm&, const DistributedRatings&, Index,
                                                            const AfterTraining&, Index);

}  // namespace polyad
