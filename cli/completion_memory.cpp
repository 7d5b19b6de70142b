#include "cli/completion_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/option_text.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/kernels/cp/factor.hpp"

namespace polyad::cli {
namespace {

constexpr double bytes_of_rating = 24;  // as it is read: user, item, value

// A row of factors, with its bias and AdaGrad's memory.
template <class Real>
double bytes_of_row(Index num_factors) {
  return double(padded_components(num_factors) + 2) * sizeof(Real);
}

double ratings_of(const DealtRatings& own) {
  return double(own.split.train.num_nonzeros() + own.split.test.num_nonzeros());
}

// Ratings three times over, as they came, sorted, and arranged; rows as they are, before the epoch, and at
// their best; and who has which share of the rows that travel.
template <class Real>
double bytes_to_train(const DealtRatings& own, int processes, Index num_factors) {
  constexpr double bytes_of_share = 40;
  const auto& train = own.split.train;
  return ratings_of(own) * (2 * bytes_of_rating + 2 * sizeof(LocalRating<Real>)) +
         3 * bytes_of_row<Real>(num_factors) *
             (double(train.extent(0)) / processes + double(train.extent(1))) +
         bytes_of_share * double(own.rotation.columns.num_shares());
}

// Of the process that gathers the model: what is left of training, all rows as they arrive and as the model
// has them, all ratings; and where users are looked at, these user by user, and the items packed.
template <class Real>
double bytes_to_finish(const DealtRatings& own, Index num_all, int processes, const CompletionArgs& args,
                       const AfterTraining& after) {
  const auto& train = own.split.train;
  const auto dealt = double(train.extent(0)), travelling = double(train.extent(1));
  const double row = bytes_of_row<Real>(args.complete.num_factors);
  const double packed = after.ranks || after.shows ? row * double(train.extent(1 - mode_of(own.by))) : 0;
  const double grouped = after.ranks || after.shows ? 16 : 0;
  return ratings_of(own) * (bytes_of_rating + sizeof(LocalRating<Real>)) +
         row * (dealt / processes + travelling) + (2 * row + sizeof(Index)) * (dealt + travelling) + packed +
         double(num_all) * (bytes_of_rating + grouped);
}

void refuse(double bytes, const std::string& limit, const std::string& what, const std::string& advice) {
  throw Error(Errc::resource, fmt::format("{} would need about {}, more than --memory {}; {}", what,
                                          with_prefix(bytes, "B"), limit, advice));
}

}  // namespace

AfterTraining what_follows(const CompletionArgs& args, Index num_test) {
  return {!args.out.empty(), args.ranking_k > 0 && num_test > 0, !args.page.empty()};
}

template <class Real>
void check_memory(const Comm& comm, const CompletionArgs& args, const DealtRatings& own,
                  const RatingModel<Real>* earlier) {
  if (args.memory.empty()) return;
  const Index num_factors = args.complete.num_factors;
  const Index num_test = comm.all_reduce(own.split.test.num_nonzeros());
  const Index num_all = comm.all_reduce(own.split.train.num_nonzeros()) + num_test;
  const auto after = what_follows(args, num_test);
  auto always = double(program_bytes());
  if (earlier != nullptr)  // every process has all of it
    always += bytes_of_row<Real>(num_factors) * double(earlier->num_users() + earlier->num_items());
  const bool gathers = after.gathers() && comm.rank() == 0;
  double train = always + bytes_to_train<Real>(own, comm.size(), num_factors);
  double finish = gathers ? always + bytes_to_finish<Real>(own, num_all, comm.size(), args, after) : 0;
  train = comm.all_reduce(train, Reduce::max);
  finish = comm.all_reduce(finish, Reduce::max);
  if (std::max(train, finish) <= double(parse_bytes(args.memory, "--memory"))) return;
  if (train >= finish)
    refuse(train, args.memory, "training, on each process,",
           "fewer factors, single precision or more processes need less");
  refuse(finish, args.memory, "gathering the model on one process, for --out, --ranking or --report,",
         "fewer factors or single precision need less, or --ranking 0 and neither of the others");
}

template void check_memory(const Comm&, const CompletionArgs&, const DealtRatings&,
                           const RatingModel<float>*);
template void check_memory(const Comm&, const CompletionArgs&, const DealtRatings&,
                           const RatingModel<double>*);

}  // namespace polyad::cli
