#include "polyad/tasks/detail/ratings/hold_out_test.hpp"

#include <fmt/format.h>

#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/distributed/move_nonzeros.hpp"
#include "polyad/distributed/row_owners.hpp"
#include "polyad/tasks/detail/ratings/completion_input.hpp"
#include "polyad/tasks/detail/ratings/prepare_ratings.hpp"
#include "polyad/tensor/ratings/split_ratings.hpp"

namespace polyad::tasks {
namespace {

using Kind = TestRatings::Kind;

// Ratings of a user on one process, each pair once.
struct OfUsers {
  SparseTensor<double> ratings;
  Index num_duplicates = 0;  // of all processes
};
OfUsers move_together(const Comm& comm, const SparseTensor<double>& share, const RowOwners& owners) {
  std::vector<int> to;
  to.reserve(std::size_t(share.num_nonzeros()));
  for (const Index user : share.indices(0)) to.push_back(owners(user));
  OfUsers moved{move_nonzeros(comm, share, to), 0};
  moved.num_duplicates = comm.all_reduce(keep_last_ratings(moved.ratings));
  return moved;
}

bool is_given(const TestRatings& test) {
  return test.kind == Kind::file || test.kind == Kind::tensor;
}

}  // namespace

HeldOutTest hold_out_test(const Context& context, Tensor& ratings, CompleteOptions& options) {
  const Comm& comm = context.comm();
  collectively(comm, [&] { require_ratings(ratings, {}); });
  const auto given_test = load_test(context, options.test, ratings);
  auto given_validation = load_test(context, options.validate, ratings);
  const RowOwners owners = ShuffledParts(ratings.tensor.extent(0), comm.size(), options.seed);

  auto moved = move_together(comm, ratings.tensor, owners);
  HeldOutTest held;
  held.num_duplicates = moved.num_duplicates;
  held.num_unknown = given_test.num_unknown;
  SplitRatings split{std::move(moved.ratings), {}};
  if (is_given(options.test)) {
    auto tested = move_together(comm, given_test.share, owners);
    held.test = std::move(tested.ratings);
    held.num_test_duplicates = tested.num_duplicates;
  } else if (options.test.kind != Kind::none) {
    split = split_ratings(std::move(split.train), split_of(options.test, options.seed));
    held.test = std::move(split.test);
  } else {
    held.test = SparseTensor<double>(ratings.tensor.extents());
  }
  held.num_test = comm.all_reduce(held.test.num_nonzeros());

  // Drawn anew: the same draw would choose from what the test has left none, or the very same.
  constexpr std::uint64_t other_draw = 0x7a11da7e;
  auto validation = std::move(given_validation.share);
  if (!is_given(options.validate)) {
    split = split_ratings(std::move(split.train), split_of(options.validate, options.seed ^ other_draw));
    validation = std::move(split.test);
  }
  if (comm.all_reduce(validation.num_nonzeros()) == 0)
    throw Error(Errc::bad_option, fmt::format("{} {}: there is nothing to choose an epoch by",
                                              option_name("validate"), name_of(options.validate)));
  if (is_given(options.test)) {
    split.test = std::move(held.test);
    held.num_learned = comm.all_reduce(count_learned_tests(split));
    held.test = std::move(split.test);
  }
  ratings.tensor = std::move(split.train);
  options.test = {};
  options.test.kind = Kind::tensor;
  options.test.tensor = std::move(validation);
  options.validate = {};
  return held;
}

}  // namespace polyad::tasks
