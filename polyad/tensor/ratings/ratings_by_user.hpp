#pragma once

#include <span>

#include "polyad/base/array.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Ratings (users x items) user by user, those of each user by ascending item; duplicates in their order.
struct RatingsByUser {
  Array<Index> begins;  // [user], and the end
  Array<Index> items;
  Array<double> values;

  Index num_users() const { return Index(begins.size()) - 1; }
  std::span<const Index> items_of(Index user) const { return part(items, user); }
  std::span<const double> values_of(Index user) const { return part(values, user); }

 private:
  template <class T>
  std::span<const T> part(const Array<T>& all, Index user) const {
    return std::span(all).subspan(std::size_t(begins[user]), std::size_t(begins[user + 1] - begins[user]));
  }
};

RatingsByUser group_by_user(const SparseTensor<double>& ratings);

}  // namespace polyad
