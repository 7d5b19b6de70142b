#include "polyad/kernels/ratings/sgd_sweep.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <numeric>

#include "polyad/base/parallel.hpp"
#include "polyad/kernels/block.hpp"
#include "polyad/kernels/ratings/block_scheduler.hpp"

namespace polyad::kernels {
namespace {

// A step in the precision of the rows.
template <class Real>
struct Moves {
  explicit Moves(const SgdStep& step)
      : size(Real(step.size)),
        of_biases(step.moves_biases ? Real(1) : Real(0)),
        per_factor(Real(1) / Real(step.num_factors)),
        is_explicit(step.is_explicit) {}

  Real size, of_biases, per_factor;
  bool is_explicit;
};

// The mean square of a gradient e * other - pull * own, from products of rows.
template <class Real>
Real mean_square(Real e, Real pull, Real own, Real other, Real product, const Moves<Real>& by) {
  const Real of_own = pull * pull * own;
  const Real of_both = std::fma(-2 * e * pull, product, of_own);
  return std::max(std::fma(e * e, other, of_both), Real(0)) * by.per_factor;
}

// What can be done to the rows of a user and an item; Width 0 is known only now. Written so that compilers
// have no choice of what to round: a rating has the same effect whichever others it is learned with.
template <class Real, int Width>
struct RowPair {
  using Row = Block<Real, Width>;

  [[gnu::always_inline]] static Real dot(const Real* a, const Real* b, Index) {
    return Row::dot(Row::load(a), Row::load(b));
  }
  // w = keep_w w + step_w h and h = keep_h h + step_h w, both from the values before.
  [[gnu::always_inline]] static void move(Real* w, Real* h, Real keep_w, Real step_w, Real keep_h,
                                          Real step_h, Index) {
    const auto w_before = Row::load(w), h_before = Row::load(h);
    auto w_after = w_before, h_after = h_before;
    w_after.scale(keep_w);
    h_after.scale(keep_h);
    w_after.add_scaled(step_w, h_before);
    h_after.add_scaled(step_h, w_before);
    w_after.store(w);
    h_after.store(h);
  }
};

template <class Real>
struct RowPair<Real, 0> {
  static Real dot(const Real* a, const Real* b, Index width) {
    Real sum = 0;
    for_blocks<Real, 0>(width, [&](Index c, auto block) {
      sum += RowPair<Real, decltype(block)::value>::dot(a + c, b + c, 0);
    });
    return sum;
  }
  static void move(Real* w, Real* h, Real keep_w, Real step_w, Real keep_h, Real step_h, Index width) {
    for_blocks<Real, 0>(width, [&](Index c, auto block) {
      RowPair<Real, decltype(block)::value>::move(w + c, h + c, keep_w, step_w, keep_h, step_h, 0);
    });
  }
};

ErrorSums add_in_order(std::span<const ErrorSums> parts) {
  ErrorSums all;
  for (const auto& part : parts) all += part;
  return all;
}

// What steps of these sizes leave of a row and of its bias, and how far they go: where the pull acts at the
// end, 1 / (1 + size pull) of both, by one division.
template <class Real>
struct KeptAndMoved {
  RowPull<Real> keep, step;
};
template <class Real>
[[gnu::always_inline]] inline KeptAndMoved<Real> kept_and_moved(Real size, Real bias_size,
                                                                const RowPull<Real>& pull, bool is_explicit) {
  if (is_explicit) return {{1 - size * pull.factors, 1 - bias_size * pull.bias}, {size, bias_size}};
  const Real factors = 1 + size * pull.factors, bias = 1 + bias_size * pull.bias;
  const Real reciprocal = 1 / (factors * bias);
  const RowPull<Real> keep{reciprocal * bias, reciprocal * factors};
  return {keep, {size * keep.factors, bias_size * keep.bias}};
}

template <class Real, int Width, bool IsAdaptive>
class Sweep {
 public:
  Sweep(RatingRows<Real>& users, RatingRows<Real>& items, const RatingPulls<Real>& pulls, const SgdStep& step)
      : users_(users.factors.flat().data()),
        items_(items.factors.flat().data()),
        user_biases_(users.biases.data()),
        item_biases_(items.biases.data()),
        user_squares_(users.squares.data()),
        item_squares_(items.squares.data()),
        user_pulls_(pulls.users.data()),
        item_pulls_(pulls.items.data()),
        by_(step),
        stride_(items.factors.num_cols()) {}

  ErrorSums block(std::span<const LocalRating<Real>> ratings) {
    ErrorSums sums;
    sums.count = std::ssize(ratings);
    std::size_t z = 0;
    for (; z + interleaved_ratings <= ratings.size(); z += interleaved_ratings)
      are_independent(&ratings[z]) ? learn<interleaved_ratings>(&ratings[z], sums)
                                   : learn_one_by_one(&ratings[z], interleaved_ratings, sums);
    learn_one_by_one(ratings.data() + z, ratings.size() - z, sums);
    return sums;
  }

 private:
  using Rows = RowPair<Real, Width>;

  static bool are_independent(const LocalRating<Real>* ratings) {
    bool result = true;
    for (std::size_t i = 1; i < interleaved_ratings; ++i)
      for (std::size_t j = 0; j < i; ++j)
        result &= (ratings[i].user != ratings[j].user) & (ratings[i].item != ratings[j].item);
    return result;
  }

  void learn_one_by_one(const LocalRating<Real>* ratings, std::size_t count, ErrorSums& sums) {
    for (std::size_t i = 0; i < count; ++i) learn<1>(ratings + i, sums);
  }

  // From ratings that share no row: so one need not wait for the other.
  template <int Count>
  [[gnu::always_inline]] void learn(const LocalRating<Real>* ratings, ErrorSums& sums) {
    std::array<Real, Count> products, errors;
    for (int i = 0; i < Count; ++i)
      products[i] = Rows::dot(user_row(ratings[i]), item_row(ratings[i]), stride_);
    for (int i = 0; i < Count; ++i) {
      errors[i] =
          ratings[i].value - user_biases_[ratings[i].user] - item_biases_[ratings[i].item] - products[i];
      sums.squares += double(errors[i]) * double(errors[i]);
      sums.magnitudes += std::abs(double(errors[i]));
    }
    for (int i = 0; i < Count; ++i) move(ratings[i], errors[i], products[i]);
  }

  [[gnu::always_inline]] void move(const LocalRating<Real>& rating, Real e, Real product) {
    Real *w = user_row(rating), *h = item_row(rating);
    const auto &user_pull = user_pulls_[rating.user], &item_pull = item_pulls_[rating.item];
    Real user_size = by_.size, item_size = by_.size;
    if constexpr (IsAdaptive) {
      const Real w_square = Rows::dot(w, w, stride_), h_square = Rows::dot(h, h, stride_);
      user_size = adapted(user_squares_[rating.user], e, user_pull.factors, w_square, h_square, product);
      item_size = adapted(item_squares_[rating.item], e, item_pull.factors, h_square, w_square, product);
    }
    const Real user_bias_size = by_.of_biases * user_size, item_bias_size = by_.of_biases * item_size;
    const auto of_user = kept_and_moved(user_size, user_bias_size, user_pull, by_.is_explicit);
    const auto of_item = kept_and_moved(item_size, item_bias_size, item_pull, by_.is_explicit);
    Rows::move(w, h, of_user.keep.factors, of_user.step.factors * e, of_item.keep.factors,
               of_item.step.factors * e, stride_);
    Real &user_bias = user_biases_[rating.user], &item_bias = item_biases_[rating.item];
    user_bias = std::fma(of_user.step.bias, e, of_user.keep.bias * user_bias);
    item_bias = std::fma(of_item.step.bias, e, of_item.keep.bias * item_bias);
  }

  // The size of a step of a row, by what it has seen until now; then it has seen this gradient too.
  Real adapted(Real& seen, Real e, Real pull, Real own, Real other, Real product) const {
    const Real size = by_.size / std::sqrt(1 + seen);
    seen += mean_square(e, pull, own, other, product, by_);
    return size;
  }

  Real* user_row(const LocalRating<Real>& rating) const { return users_ + Index(rating.user) * stride_; }
  Real* item_row(const LocalRating<Real>& rating) const { return items_ + Index(rating.item) * stride_; }

  Real *users_, *items_, *user_biases_, *item_biases_, *user_squares_, *item_squares_;
  const RowPull<Real>*user_pulls_, *item_pulls_;
  Moves<Real> by_;
  Index stride_;
};

// Into how many bands the squares are cut that threads take: a few for each thread, so that one that is
// late delays the others little.
Index num_square_bands(Index num_bands) {
  const int threads = num_threads();
  return threads == 1 ? 1 : std::min(num_bands, Index(std::bit_ceil(unsigned(2 * threads))));
}

template <class Real, int Width, bool IsAdaptive>
ErrorSums sweep_blocks(const RatingBlocks<Real>& blocks, RatingRows<Real>& users, RatingRows<Real>& items,
                       const RatingPulls<Real>& pulls, const SgdStep& step) {
  const Index num_blocks = blocks.num_bands * blocks.num_bands, n = num_square_bands(blocks.num_bands);
  const Index in_square = num_blocks / (n * n);
  std::vector<ErrorSums> sums(static_cast<std::size_t>(num_blocks));
  BlockScheduler turns(n);
#pragma omp parallel
  {
    Sweep<Real, Width, IsAdaptive> sweep(users, items, pulls, step);
    while (const auto square = turns.take()) {
      const Index first = block_place(square->round, square->user_band) * in_square;
      for (Index place = first; place < first + in_square; ++place)
        sums[std::size_t(place)] = sweep.block(blocks.block(place));
      turns.finish(*square);
    }
  }
  return add_in_order(sums);
}

}  // namespace

template <class Real>
ErrorSums sgd_sweep(const RatingBlocks<Real>& blocks, RatingRows<Real>& users, RatingRows<Real>& items,
                    const RatingPulls<Real>& pulls, const SgdStep& step) {
  assert(users.factors.num_cols() == items.factors.num_cols());
  assert(!step.is_adaptive || (!users.squares.empty() || users.num_rows() == 0));
  ErrorSums sums;
  with_width(users.factors.num_cols(), [&](auto width) {
    constexpr int n = decltype(width)::value;
    sums = step.is_adaptive ? sweep_blocks<Real, n, true>(blocks, users, items, pulls, step)
                            : sweep_blocks<Real, n, false>(blocks, users, items, pulls, step);
  });
  return sums;
}

template <class Real>
ErrorSums rating_errors(std::span<const LocalRating<Real>> ratings, const RatingRows<Real>& users,
                        const RatingRows<Real>& items, const RatingRange& range) {
  constexpr Index chunk = 8192;
  const Index num_chunks = (std::ssize(ratings) + chunk - 1) / chunk, width = users.factors.num_cols();
  std::vector<ErrorSums> sums(std::size_t(num_chunks), ErrorSums{});
  parallel_for(num_chunks, [&](Index i) {
    const auto begin = std::size_t(i * chunk);
    for (const auto& rating : ratings.subspan(begin, std::min(ratings.size() - begin, std::size_t(chunk)))) {
      const Real* w = users.factors.row(rating.user).data();
      const Real* h = items.factors.row(rating.item).data();
      const Real product = RowPair<Real, 0>::dot(w, h, width);
      const auto value = double(rating.value);
      const double e =
          std::clamp(double(rating.value - users.biases[rating.user] - items.biases[rating.item] - product),
                     value - range.largest, value - range.least);
      sums[std::size_t(i)] += {e * e, std::abs(e), 1};
    }
  });
  return add_in_order(sums);
}

namespace ref {

template <class Real>
ErrorSums sgd_sweep(std::span<const LocalRating<Real>> ratings, RatingRows<Real>& users,
                    RatingRows<Real>& items, const RatingPulls<Real>& pulls, const SgdStep& step) {
  ErrorSums sums;
  for (const auto& [user, item, value] : ratings) {
    const auto w = users.factors.row(user), h = items.factors.row(item);
    const Real product = std::inner_product(w.begin(), w.end(), h.begin(), Real(0));
    const Real e = value - users.biases[user] - items.biases[item] - product;
    sums += {double(e) * double(e), std::abs(double(e)), 1};
    Real sizes[2] = {Real(step.size), Real(step.size)}, squares[2] = {0, 0};
    const auto &of_user = pulls.users[user], &of_item = pulls.items[item];
    for (std::size_t c = 0; c < w.size(); ++c) {
      squares[0] += std::pow(e * h[c] - of_user.factors * w[c], Real(2)) / Real(step.num_factors);
      squares[1] += std::pow(e * w[c] - of_item.factors * h[c], Real(2)) / Real(step.num_factors);
    }
    if (step.is_adaptive) {
      sizes[0] /= std::sqrt(1 + std::exchange(users.squares[user], users.squares[user] + squares[0]));
      sizes[1] /= std::sqrt(1 + std::exchange(items.squares[item], items.squares[item] + squares[1]));
    }
    const auto moved = [&](Real from, Real size, Real pull, Real partner) {
      return step.is_explicit ? from + size * (e * partner - pull * from)
                              : (from + size * e * partner) / (1 + size * pull);
    };
    for (std::size_t c = 0; c < w.size(); ++c) {
      const Real before = w[c];
      w[c] = moved(w[c], sizes[0], of_user.factors, h[c]);
      h[c] = moved(h[c], sizes[1], of_item.factors, before);
    }
    if (!step.moves_biases) continue;
    users.biases[user] = moved(users.biases[user], sizes[0], of_user.bias, 1);
    items.biases[item] = moved(items.biases[item], sizes[1], of_item.bias, 1);
  }
  return sums;
}

template ErrorSums sgd_sweep(std::span<const LocalRating<float>>, RatingRows<float>&, RatingRows<float>&,
                             const RatingPulls<float>&, const SgdStep&);
template ErrorSums sgd_sweep(std::span<const LocalRating<double>>, RatingRows<double>&, RatingRows<double>&,
                             const RatingPulls<double>&, const SgdStep&);

}  // namespace ref

template ErrorSums sgd_sweep(const RatingBlocks<float>&, RatingRows<float>&, RatingRows<float>&,
                             const RatingPulls<float>&, const SgdStep&);
template ErrorSums sgd_sweep(const RatingBlocks<double>&, RatingRows<double>&, RatingRows<double>&,
                             const RatingPulls<double>&, const SgdStep&);
template ErrorSums rating_errors(std::span<const LocalRating<float>>, const RatingRows<float>&,
                                 const RatingRows<float>&, const RatingRange&);
template ErrorSums rating_errors(std::span<const LocalRating<double>>, const RatingRows<double>&,
                                 const RatingRows<double>&, const RatingRange&);

}  // namespace polyad::kernels
