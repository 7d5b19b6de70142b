#include "cli/completion_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/option_text.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/kernels/factor.hpp"

namespace polyad::cli {
namespace {

constexpr double bytes_of_rating = 24;  // as it is read: user, item, value

// A row of factors, with its bias and AdaGrad's memory.
template <class Real>
double bytes_of_row(Index num_factors) {
  return double(padded_components(num_factors) + 2) * sizeof(Real);
}

// Ratings three times over, as they came, sorted, and arranged; rows as they are, before the epoch, and at
// their best; and the shares of the rows that travel.
template <class Real>
double bytes_to_train(const SplitRatings& own, int processes, Index num_factors) {
  const auto ratings = double(own.train.num_nonzeros() + own.test.num_nonzeros());
  const auto dealt = double(own.train.extent(0)) / processes, travelling = double(own.train.extent(1));
  return ratings * (2 * bytes_of_rating + 2 * sizeof(LocalRating<Real>)) +
         3 * bytes_of_row<Real>(num_factors) * (dealt + travelling) + 24.0 * travelling;
}

// Of the process that gathers the model: what is left of training, all rows as they arrive and as the model
// has them, all ratings, and these once more user by user where users are looked at.
template <class Real>
double bytes_to_finish(const SplitRatings& own, Index num_all, int processes, const CompletionArgs& args,
                       const AfterTraining& after) {
  const auto ratings = double(own.train.num_nonzeros() + own.test.num_nonzeros());
  const auto dealt = double(own.train.extent(0)), travelling = double(own.train.extent(1));
  const double row = bytes_of_row<Real>(args.complete.num_factors);
  const double grouped = after.shows ? bytes_of_rating + 16 : after.ranks ? 16 : 0;
  return ratings * bytes_of_rating + row * (dealt / processes + travelling) +
         (2 * row + sizeof(Index)) * (dealt + travelling) + double(num_all) * (bytes_of_rating + grouped);
}

void require(double bytes, const std::string& limit, const std::string& what, const std::string& advice) {
  if (bytes > double(parse_bytes(limit, "--memory")))
    throw Error(Errc::resource, fmt::format("{} would need about {}, more than --memory {}; {}", what,
                                            with_prefix(bytes, "B"), limit, advice));
}

}  // namespace

AfterTraining what_follows(const CompletionArgs& args, Index num_test) {
  return {!args.out.empty(), args.ranking_k > 0 && num_test > 0, !args.page.empty()};
}

template <class Real>
void check_memory(const Comm& comm, const CompletionArgs& args, const SplitRatings& own,
                  const RatingModel<Real>* earlier) {
  if (args.memory.empty()) return;
  const Index num_factors = args.complete.num_factors;
  const Index num_test = comm.all_reduce(own.test.num_nonzeros());
  const Index num_all = comm.all_reduce(own.train.num_nonzeros()) + num_test;
  const auto after = what_follows(args, num_test);
  double kept = 0;  // every process has all of the model to go on from
  if (earlier != nullptr)
    kept = bytes_of_row<Real>(num_factors) * double(earlier->num_users() + earlier->num_items());
  const bool gathers = after.gathers() && comm.rank() == 0;
  const double train = kept + bytes_to_train<Real>(own, comm.size(), num_factors);
  const double finish = gathers ? kept + bytes_to_finish<Real>(own, num_all, comm.size(), args, after) : 0;
  require(comm.all_reduce(train, Reduce::max), args.memory, "training, on each process,",
          "fewer factors, single precision or more processes need less");
  require(comm.all_reduce(finish, Reduce::max), args.memory,
          "gathering the model on one process, for --out, --ranking or --report,",
          "fewer factors or single precision need less, or --ranking 0 and neither of the others");
}

template void check_memory(const Comm&, const CompletionArgs&, const SplitRatings&,
                           const RatingModel<float>*);
template void check_memory(const Comm&, const CompletionArgs&, const SplitRatings&,
                           const RatingModel<double>*);

}  // namespace polyad::cli
