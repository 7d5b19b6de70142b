#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "polyad/comm/comm.hpp"
#include "polyad/tasks/completion_model.hpp"
#include "polyad/tensor/generate/generate.hpp"
#include "polyad/tensor/ratings/split_ratings.hpp"
#include "tests/support/generated.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::test {

// Ratings with structure, each pair once. Some users and items have none.
inline SparseTensor<double> structured_ratings(Index users, Index items, Index count, std::uint64_t seed) {
  RatingsOptions options;
  options.num_users = users;
  options.num_items = items;
  options.num_ratings = count;
  options.num_factors = 2;
  options.test_fraction = 0;
  options.seed = seed;
  auto ratings = generate_ratings(options).train;
  keep_last_ratings(ratings);
  return ratings;
}

// The folder of process 0, on all. Collective.
inline std::filesystem::path shared(const Comm& comm, const std::filesystem::path& mine) {
  const auto text = mine.string();
  std::vector<char> letters(text.begin(), text.end());
  comm.broadcast(letters, 0);
  return std::string(letters.begin(), letters.end());
}

// A model of ratings as plain numbers, which predicts by definition. Collective.
struct PlainModel {
  explicit PlainModel(const CompletionModel& model)
      : mean(model.mean()),
        users(model.user_factors()),
        items(model.item_factors()),
        user_biases(model.user_biases()),
        item_biases(model.item_biases()) {}

  double predict(Index user, Index item) const {
    double rating = mean;
    if (!user_biases.empty()) rating += user_biases[std::size_t(user)];
    if (!item_biases.empty()) rating += item_biases[std::size_t(item)];
    for (Index f = 0; f < users.num_cols(); ++f) rating += users(user, f) * items(item, f);
    return rating;
  }

  double mean;
  Matrix<double> users, items;
  std::vector<double> user_biases, item_biases;
};

}  // namespace polyad::test
