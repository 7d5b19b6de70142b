#include "polyad/algo/cp/lbfgs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "polyad/base/error.hpp"

namespace polyad {
namespace {

// The inner product of a combination with the k-th vector.
double product_with(const Matrix<double>& products, Index k, const std::vector<double>& coefficients) {
  const auto row = products.row(k);
  return std::inner_product(coefficients.begin(), coefficients.end(), row.begin(), 0.0);
}

}  // namespace

std::vector<double> lbfgs_direction(const Matrix<double>& products) {
  const Index pairs = products.num_rows() / 2, g = 2 * pairs;
  std::vector<double> direction(std::size_t(products.num_rows()), 0.0), alpha(std::size_t(pairs), 0.0);
  direction[g] = -1;
  for (Index i = pairs - 1; i >= 0; --i) {
    alpha[i] = product_with(products, i, direction) / products(i, pairs + i);
    direction[pairs + i] -= alpha[i];
  }
  if (pairs > 0) {
    const double scale = products(pairs - 1, g - 1) / products(g - 1, g - 1);
    for (double& coefficient : direction) coefficient *= scale;
  }
  for (Index i = 0; i < pairs; ++i) {
    const double beta = product_with(products, pairs + i, direction) / products(i, pairs + i);
    direction[i] += alpha[i] - beta;
  }
  return direction;
}

template <class Real>
LbfgsMemory<Real>::LbfgsMemory(Comm comm, int max_pairs, std::vector<Index> num_rows, Index num_cols)
    : comm_(std::move(comm)),
      max_pairs_(max_pairs),
      vectors_(2 * std::size_t(max_pairs) + 1),
      products_(2 * max_pairs + 1, 2 * max_pairs + 1) {
  storage_.resize(2 * std::size_t(max_pairs));
  for (std::size_t k = 0; k < storage_.size(); ++k) {
    for (const Index rows : num_rows) storage_[k].emplace_back(rows, num_cols);
    vectors_[k] = kernels::first_rows_of<Real>(storage_[k], num_rows);
  }
}

template <class Real>
void LbfgsMemory<Real>::add(double step, const kernels::FactorVector<Real>& direction,
                            const kernels::FactorVector<Real>& gradient_before,
                            const kernels::FactorVector<Real>& gradient_after) {
  int pair = int(order_.size());
  if (pair == max_pairs_) {
    pair = order_.front();
    order_.erase(order_.begin());
  } else {
    while (std::ranges::find(order_, pair) != order_.end()) --pair;  // one that was dropped
  }
  kernels::combine<Real>({{step, direction}}, vectors_[pair]);
  kernels::combine<Real>({{1, gradient_after}, {-1, gradient_before}}, vectors_[max_pairs_ + pair]);
  order_.push_back(pair);
  has_new_pair_ = true;
}

template <class Real>
std::vector<int> LbfgsMemory<Real>::numbers_in_order() const {
  std::vector<int> numbers = order_;
  for (const int pair : order_) numbers.push_back(max_pairs_ + pair);
  numbers.push_back(gradient_number());
  return numbers;
}

template <class Real>
void LbfgsMemory<Real>::update_products(const kernels::FactorVector<Real>& gradient) {
  vectors_[gradient_number()] = gradient;
  std::vector<int> fresh{gradient_number()};
  if (std::exchange(has_new_pair_, false) && !order_.empty())
    fresh.insert(fresh.end(), {order_.back(), max_pairs_ + order_.back()});
  const auto known = numbers_in_order();
  const auto views = [&](const std::vector<int>& numbers) {
    std::vector<kernels::FactorVector<Real>> result;
    for (const int number : numbers) result.push_back(vectors_[number]);
    return result;
  };
  auto sums = kernels::inner_products<Real>(views(fresh), views(known));
  comm_.all_reduce(sums.flat());
  for (std::size_t i = 0; i < fresh.size(); ++i)
    for (std::size_t j = 0; j < known.size(); ++j)
      products_(fresh[i], known[j]) = products_(known[j], fresh[i]) = sums(Index(i), Index(j));
}

template <class Real>
double LbfgsMemory<Real>::find_direction(const kernels::FactorVector<Real>& gradient,
                                         const kernels::FactorVector<Real>& direction) {
  update_products(gradient);
  if (!order_.empty()) {
    const int s = order_.back(), y = max_pairs_ + s;
    const double minimum =
        std::numeric_limits<Real>::epsilon() * std::sqrt(products_(s, s) * products_(y, y));
    if (!(products_(s, y) > minimum)) order_.pop_back();
  }
  const auto numbers = numbers_in_order();
  Matrix<double> products(std::ssize(numbers), std::ssize(numbers));
  for (Index i = 0; i < products.num_rows(); ++i)
    for (Index j = 0; j < products.num_rows(); ++j) products(i, j) = products_(numbers[i], numbers[j]);
  auto coefficients = lbfgs_direction(products);
  double slope = product_with(products, products.num_rows() - 1, coefficients);
  if (!(slope < 0)) {
    clear();
    std::ranges::fill(coefficients, 0.0);
    coefficients.back() = -1;
    slope = -products(products.num_rows() - 1, products.num_rows() - 1);
  }
  std::vector<kernels::ScaledVector<Real>> terms;
  for (std::size_t k = 0; k < numbers.size(); ++k) terms.push_back({coefficients[k], vectors_[numbers[k]]});
  combine(terms, direction);
  return slope;
}

template <class Real>
void LbfgsMemory<Real>::add_pairs_to(std::vector<kernels::FactorVector<Real>>& vectors) const {
  for (const int pair : order_) vectors.insert(vectors.end(), {vectors_[pair], vectors_[max_pairs_ + pair]});
}

// The numbers of vectors are kept too: sums over them are then added in the same order.
template <class Real>
void LbfgsMemory<Real>::save(CpState<Real>& state) const {
  state.numbers.put_list(std::vector<double>(order_.begin(), order_.end()));
  state.numbers.put(double(has_new_pair_));
  state.numbers.put_list(products_.flat());
  add_pairs_to(state.vectors);
}

template <class Real>
void LbfgsMemory<Real>::restore(StateNumbers& numbers, std::vector<kernels::FactorVector<Real>>& vectors) {
  order_.clear();
  for (const double pair : numbers.take_list()) {
    const bool is_known = std::ranges::find(order_, int(pair)) != order_.end();
    if (!(pair >= 0 && pair < max_pairs_) || is_known)
      throw Error(Errc::bad_input, "the steps are not those of a minimisation with so many of them");
    order_.push_back(int(pair));
  }
  has_new_pair_ = numbers.take() != 0;
  numbers.take_list(products_.flat());
  add_pairs_to(vectors);
}

template class LbfgsMemory<float>;
template class LbfgsMemory<double>;

}  // namespace polyad
