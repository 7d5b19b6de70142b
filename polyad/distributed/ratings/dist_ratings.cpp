#include "polyad/distributed/ratings/dist_ratings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "polyad/base/random.hpp"

namespace polyad {
namespace {

// Ascending.
Array<Index> distinct(std::span<const Index> indices, Index extent) {
  std::vector<bool> is_there(std::size_t(extent), false);
  for (const Index i : indices) is_there[std::size_t(i)] = true;
  Array<Index> result;
  for (Index i = 0; i < extent; ++i)
    if (is_there[std::size_t(i)]) result.push_back(i);
  return result;
}

// In an order that the seed decides.
Array<Index> shuffled(Array<Index> indices, std::uint64_t seed, RatingSide side) {
  const Random random(seed, side == RatingSide::user ? 0x05e5 : 0x17e5);
  std::vector<std::pair<std::uint64_t, Index>> keys;
  for (const Index i : indices) keys.emplace_back(random.bits(std::uint64_t(i))[0], i);
  std::ranges::sort(keys);
  std::ranges::transform(keys, indices.begin(), [](const auto& key) { return key.second; });
  return indices;
}

constexpr auto no_row = std::numeric_limits<LocalIndex>::max();

// The rows that a process has of one side.
struct LocalRows {
  Array<Index> rows;        // [local]: global
  Index num_trained = 0;    // the first ones
  Array<LocalIndex> local;  // [global]; no_row: it has none
};

LocalRows number_locally(const SplitRatings& own, RatingSide side, std::uint64_t seed) {
  const int mode = mode_of(side);
  LocalRows result;
  result.local.assign(std::size_t(own.train.extent(mode)), no_row);
  const auto add = [&](const SparseTensor<double>& ratings) {
    for (const Index i : shuffled(distinct(ratings.indices(mode), ratings.extent(mode)), seed, side)) {
      if (result.local[i] != no_row) continue;
      result.local[i] = LocalIndex(result.rows.size());
      result.rows.push_back(i);
    }
  };
  add(own.train);
  result.num_trained = std::ssize(result.rows);
  add(own.test);
  return result;
}

struct Spread {
  double mean = 0, scale = 1;
};

// Mean and deviation of all training ratings; without centring, 0 and the root mean square. Where all are
// equal the scale is 1.
Spread spread_of(const Comm& comm, std::span<const double> values, Index count, bool centres) {
  Spread spread;
  if (count == 0) return spread;
  if (centres)
    spread.mean = comm.all_reduce(std::accumulate(values.begin(), values.end(), 0.0)) / double(count);
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  const double deviation = std::sqrt(comm.all_reduce(squares) / double(count));
  // Of equal ratings rounding may leave a deviation.
  const bool is_spread = deviation > 1e-12 * std::abs(spread.mean);
  if (is_spread && std::isfinite(deviation)) spread.scale = deviation;
  return spread;
}

// [global item]: when this process learns from its ratings.
Array<int> sub_epochs_of(const Rotation& rotation, int rank) {
  Array<int> result(std::size_t(rotation.columns.num_columns()), 0);
  for (Index j = 0; j < rotation.columns.num_columns(); ++j)
    for (Index s = rotation.columns.begin[j]; s < rotation.columns.begin[j + 1]; ++s)
      if (rotation.columns.parts[s] == rank) result[j] = rotation.sub_epoch[s];
  return result;
}

// Rows of several processes, each with its global number.
template <class Real>
class GatheredRows {
 public:
  GatheredRows(const Comm& comm, std::span<const Index> rows, std::span<const Real> words, Index per_row,
               int root)
      : rows_(comm.gather_varying(rows, root).items),
        words_(comm.gather_varying(words, root).items),
        per_row_(per_row) {}

  template <class Fn>
  void for_each(Fn fn) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) fn(rows_[i], words_.data() + Index(i) * per_row_);
  }

 private:
  Array<Index> rows_;
  Array<Real> words_;
  Index per_row_;
};

}  // namespace

template <class Real>
DistRatings<Real> lay_out_ratings(const Comm& comm, const SplitRatings& own, Rotation&& rotation,
                                  const RatingLayout& layout) {
  DistRatings<Real> x(comm);
  x.rotation = std::move(rotation);
  x.num_users = own.train.extent(0);
  x.num_items = own.train.extent(1);
  x.num_ratings = comm.all_reduce(own.train.num_nonzeros());
  x.num_test = comm.all_reduce(own.test.num_nonzeros());
  const auto spread = spread_of(comm, own.train.values(), x.num_ratings, layout.centres);
  x.mean = spread.mean;
  x.scale = spread.scale;

  auto users = number_locally(own, RatingSide::user, layout.seed);
  auto items = number_locally(own, RatingSide::item, layout.seed);
  x.num_trained_users = users.num_trained;
  x.num_trained_items = items.num_trained;
  const auto local_rating = [&](const SparseTensor<double>& ratings, Index z) {
    return LocalRating<Real>{users.local[ratings.indices(0)[z]], items.local[ratings.indices(1)[z]],
                             Real((ratings.values()[z] - x.mean) / x.scale)};
  };
  const auto when = sub_epochs_of(x.rotation, comm.rank());
  x.sub_epochs.resize(std::size_t(x.rotation.num_sub_epochs));
  for (Index z = 0; z < own.train.num_nonzeros(); ++z)
    x.sub_epochs[std::size_t(when[own.train.indices(1)[z]])].push_back(local_rating(own.train, z));
  for (Index z = 0; z < own.test.num_nonzeros(); ++z) x.test.push_back(local_rating(own.test, z));

  x.steps = rotation_steps(x.rotation, comm.rank(), items.local);
  x.visits = plan_visits(comm, x.rotation, distinct(own.test.indices(1), x.num_items), items.local);
  for (Index local = 0; local < items.num_trained; ++local)
    if (last_owner(x.rotation, items.rows[local]) == comm.rank()) x.owned_items.push_back(LocalIndex(local));
  x.user_ratings.assign(users.rows.size(), 0);
  for (const Index user : own.train.indices(0)) ++x.user_ratings[users.local[user]];
  for (const Index item : items.rows) x.item_ratings.push_back(x.rotation.columns.num_ratings(item));
  x.users = std::move(users.rows);
  x.items = std::move(items.rows);
  return x;
}

template <class Real>
TrainedRows<Real> transposed(TrainedRows<Real> rows, RatingSide first) {
  rows.model = transposed(std::move(rows.model), first);
  if (first == RatingSide::item) std::swap(rows.user_squares, rows.item_squares);
  return rows;
}

template <class Real>
TrainedRows<Real> gather_model(const DistRatings<Real>& x, const RatingRows<Real>& users,
                               const RatingRows<Real>& items, const TravellingWords& words, int root) {
  const RowSender<Real> packer(x.comm, words);
  const Index per_row = words.per_row();
  const auto gather = [&](const RatingRows<Real>& rows, std::span<const LocalIndex> which,
                          std::span<const Index> global) {
    Array<Index> numbers;
    Array<Real> packed(which.size() * std::size_t(per_row));
    for (std::size_t i = 0; i < which.size(); ++i) {
      numbers.push_back(global[which[i]]);
      packer.pack(rows, which[i], packed.data() + Index(i) * per_row);
    }
    return GatheredRows<Real>(x.comm, numbers, packed, per_row, root);
  };
  Array<LocalIndex> own_users(static_cast<std::size_t>(x.num_trained_users));
  std::iota(own_users.begin(), own_users.end(), LocalIndex(0));
  const auto all_users = gather(users, own_users, x.users), all_items = gather(items, x.owned_items, x.items);
  TrainedRows<Real> result;
  if (x.comm.rank() != root) return result;

  const auto spread = [&](const GatheredRows<Real>& from, Index num_rows, Matrix<Real>& factors,
                          Array<Real>& biases, Array<Real>& squares) {
    factors = Matrix<Real>(num_rows, words.num_factors);
    if (words.biases) biases.assign(std::size_t(num_rows), Real(0));
    if (words.squares) squares.assign(std::size_t(num_rows), Real(0));
    // Back into the units of the ratings: each side takes the root of the scale.
    const Real unit = Real(std::sqrt(x.scale));
    from.for_each([&](Index row, const Real* values) {
      for (Real& factor : factors.row(row)) factor = unit * *values++;
      if (words.biases) biases[row] = Real(x.scale) * *values++;
      if (words.squares) squares[row] = *values;
    });
  };
  auto& model = result.model;
  model.mean = x.mean;
  spread(all_users, x.num_users, model.users, model.user_biases, result.user_squares);
  spread(all_items, x.num_items, model.items, model.item_biases, result.item_squares);
  return result;
}

template DistRatings<float> lay_out_ratings(const Comm&, const SplitRatings&, Rotation&&,
                                            const RatingLayout&);
template DistRatings<double> lay_out_ratings(const Comm&, const SplitRatings&, Rotation&&,
                                             const RatingLayout&);
template TrainedRows<float> transposed(TrainedRows<float>, RatingSide);
template TrainedRows<double> transposed(TrainedRows<double>, RatingSide);
template TrainedRows<float> gather_model(const DistRatings<float>&, const RatingRows<float>&,
                                         const RatingRows<float>&, const TravellingWords&, int);
template TrainedRows<double> gather_model(const DistRatings<double>&, const RatingRows<double>&,
                                          const RatingRows<double>&, const TravellingWords&, int);

}  // namespace polyad
