#pragma once

#include <optional>
#include <string>

#include "cli/console.hpp"
#include "cli/input.hpp"
#include "polyad/algo/sgd_completion.hpp"
#include "polyad/distributed/ratings/distribute_ratings.hpp"

namespace polyad::cli {

// --test: a share of the ratings, leave-one-out, or a file. Empty: no test. Throws Error{bad_option}.
struct TestSource {
  RatingSplit split;
  std::string file;
};
TestSource parse_test(const std::string& text, std::uint64_t seed);

// The ratings of a test file, under the numbers of the training ratings; those of users or items that they do
// not have are left out. One process reads it, by the options of the training file. Collective.
struct TestRatings {
  SparseTensor<double> share;
  Index num_unknown = 0;
};
TestRatings load_test(const Comm& comm, const std::string& path, InputOptions options,
                      const io::LoadedTensor& training, const Console& console);

// The file that --partition names; empty: it names a method.
std::string partition_file_of(const std::string& partition);

// --by, --partition and --cache.
struct DealOptions {
  std::string by = "auto", partition = "random", cache;
  std::uint64_t seed = 1;
};
// Which process has each user and item, of the sides that may be dealt out: `auto` weighs both, but on one
// process, or by a file, which has a part per user, it is users. Collective.
SideOwners own_sides(const Comm& comm, const SparseTensor<double>& share, const DealOptions& options,
                     const Console& console);

// A model to go on from; users and items that have names are found by them. Throws Error{bad_option} when it
// is of another kind than what is asked for, Error{bad_input} when it is not of these users and items.
// Collective.
template <class Real>
EarlierTraining<Real> load_earlier(const Comm& comm, const std::string& directory,
                                   const io::LoadedTensor& training, const CompletionOptions& options);

}  // namespace polyad::cli
