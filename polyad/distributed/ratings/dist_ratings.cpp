#include "polyad/distributed/ratings/dist_ratings.hpp"

#include <algorithm>
#include <array>
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
  double mean = 0, scale = 1, deviation = 0;
};

// Mean and deviation of all training ratings; without centring, 0 and the root mean square. Where all are
// equal the deviation is 0 and the scale 1. Sums are those of parts, added in their order.
template <class Real>
Spread spread_of(const DistRatings<Real>& x, std::span<const SplitRatings> own, bool centres) {
  Spread spread;
  if (x.num_ratings == 0) return spread;
  const auto mean_of = [&](auto term) {
    std::vector<double> sums;
    for (const auto& part : own) {
      double sum = 0;
      for (const double value : part.train.values()) sum += term(value);
      sums.push_back(sum);
    }
    const auto all = gather_by_part(x.comm, x.places, sums);
    return std::accumulate(all.begin(), all.end(), 0.0) / double(x.num_ratings);
  };
  if (centres) spread.mean = mean_of([](double value) { return value; });
  const double deviation =
      std::sqrt(mean_of([&](double value) { return (value - spread.mean) * (value - spread.mean); }));
  // Of equal ratings rounding may leave a deviation.
  const bool is_spread = deviation > 1e-12 * std::abs(spread.mean);
  if (is_spread && std::isfinite(deviation)) spread.scale = spread.deviation = deviation;
  return spread;
}

// The share of a part in a column that it has ratings of.
Index share_of(const ColumnShares& columns, Index column, int part) {
  const auto begin = columns.parts.begin();
  return std::lower_bound(begin + columns.begin[column], begin + columns.begin[column + 1], part) - begin;
}

// The ratings of each part of a process, in their order.
std::vector<SplitRatings> separated(const SplitRatings& own, const RowOwners& owners, int first, int count) {
  std::vector<SplitRatings> parts;
  for (int i = 0; i < count; ++i)
    parts.push_back({SparseTensor<double>(own.train.extents()), SparseTensor<double>(own.train.extents())});
  const auto separate = [&](const SparseTensor<double>& ratings, SparseTensor<double> SplitRatings::*kind) {
    Index last_row = -1;
    int part = 0;
    for (Index z = 0; z < ratings.num_nonzeros(); ++z) {
      const Index row = ratings.indices(0)[z];
      if (row != last_row) part = owners(row) - first;
      last_row = row;
      (parts[std::size_t(part)].*kind)
          .append(std::array{row, Index(ratings.indices(1)[z])}, ratings.values()[z]);
    }
  };
  separate(own.train, &SplitRatings::train);
  separate(own.test, &SplitRatings::test);
  return parts;
}

// Lays out the ratings of one part, and notes its rows of items.
template <class Real>
struct PartLayout {
  RatingPart<Real> part;
  std::vector<WantedColumn> tested;  // by ascending item
};
template <class Real>
PartLayout<Real> lay_out_part(const DistRatings<Real>& x, const SplitRatings& own, int number,
                              std::uint64_t seed, std::span<LocalIndex> share_rows) {
  PartLayout<Real> result;
  auto& part = result.part;
  auto users = number_locally(own, RatingSide::user, seed);
  auto items = number_locally(own, RatingSide::item, seed);
  part.num_trained_users = users.num_trained;
  part.num_trained_items = items.num_trained;
  const auto local_rating = [&](const SparseTensor<double>& ratings, Index z) {
    return LocalRating<Real>{users.local[ratings.indices(0)[z]], items.local[ratings.indices(1)[z]],
                             Real((ratings.values()[z] - x.mean) / x.scale)};
  };
  const auto& columns = x.rotation.columns;
  Array<int> when(std::size_t(items.num_trained), 0);  // [local item]
  for (Index local = 0; local < items.num_trained; ++local) {
    const Index share = share_of(columns, items.rows[local], number);
    when[local] = x.rotation.sub_epoch[share];
    share_rows[std::size_t(share)] = LocalIndex(local);
    if (last_owner(x.rotation, items.rows[local]) == share) part.owned_items.push_back(LocalIndex(local));
  }
  part.sub_epochs.resize(std::size_t(x.rotation.num_sub_epochs));
  for (Index z = 0; z < own.train.num_nonzeros(); ++z) {
    const auto rating = local_rating(own.train, z);
    part.sub_epochs[std::size_t(when[rating.item])].push_back(rating);
  }
  for (Index z = 0; z < own.test.num_nonzeros(); ++z) part.test.push_back(local_rating(own.test, z));
  for (const Index item : distinct(own.test.indices(1), x.num_items))
    result.tested.push_back({item, items.local[item]});
  part.user_ratings.assign(users.rows.size(), 0);
  for (const Index user : own.train.indices(0)) ++part.user_ratings[users.local[user]];
  for (const Index item : items.rows) part.item_ratings.push_back(columns.num_ratings(item));
  part.users = std::move(users.rows);
  part.items = std::move(items.rows);
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

// The rows of one side that the parts of this process own.
template <class Real>
GatheredRows<Real> gather_rows(const DistRatings<Real>& x, std::span<const RatingRows<Real>> rows,
                               RatingSide side, const TravellingWords& words, int root) {
  const RowSender<Real> packer(x.comm, x.places, words);
  const Index per_row = words.per_row();
  Array<Index> numbers;
  Array<Real> packed;
  const auto add = [&](std::size_t i, std::span<const Index> global, Index local) {
    numbers.push_back(global[std::size_t(local)]);
    packed.resize(packed.size() + std::size_t(per_row));
    packer.pack(rows[i], local, packed.data() + std::ssize(packed) - per_row);
  };
  for (std::size_t i = 0; i < x.parts.size(); ++i) {
    const auto& part = x.parts[i];
    if (side == RatingSide::user)
      for (Index user = 0; user < part.num_trained_users; ++user) add(i, part.users, user);
    else
      for (const LocalIndex item : part.owned_items) add(i, part.items, item);
  }
  return GatheredRows<Real>(x.comm, numbers, packed, per_row, root);
}

}  // namespace

template <class Real>
DistRatings<Real> lay_out_ratings(const Comm& comm, const SplitRatings& own, const RowOwners& owners,
                                  Rotation&& rotation, const RatingLayout& layout) {
  DistRatings<Real> x(comm);
  x.places = places_of(comm, layout.num_parts);
  x.rotation = std::move(rotation);
  x.num_users = own.train.extent(0);
  x.num_items = own.train.extent(1);
  x.num_ratings = comm.all_reduce(own.train.num_nonzeros());
  x.num_test = comm.all_reduce(own.test.num_nonzeros());
  const int first = x.places.first(comm.rank()), count = x.places.count(comm.rank());
  std::vector<SplitRatings> several;
  if (count > 1) several = separated(own, owners, first, count);
  const std::span<const SplitRatings> ratings =
      count > 1 ? std::span<const SplitRatings>(several) : std::span(&own, 1);
  const auto spread = spread_of(x, ratings, layout.centres);
  x.mean = spread.mean;
  x.scale = spread.scale;
  x.deviation = spread.deviation;

  x.parts.resize(ratings.size());
  x.share_rows.assign(std::size_t(x.rotation.columns.num_shares()), 0);
  std::vector<std::vector<WantedColumn>> tested(ratings.size());
  for_each_part(std::ssize(ratings), [&](Index i) {
    auto laid_out =
        lay_out_part(x, ratings[std::size_t(i)], first + int(i), layout.seed, std::span(x.share_rows));
    x.parts[std::size_t(i)] = std::move(laid_out.part);
    tested[std::size_t(i)] = std::move(laid_out.tested);
  });
  x.steps = rotation_steps(x.rotation, first, count, x.share_rows);
  x.visits = plan_visits(comm, x.places, x.rotation, tested, x.share_rows);
  return x;
}

template <class Real>
TrainedRows<Real> transposed(TrainedRows<Real> rows, RatingSide first) {
  rows.model = transposed(std::move(rows.model), first);
  if (first == RatingSide::item) std::swap(rows.user_squares, rows.item_squares);
  return rows;
}

template <class Real>
TrainedRows<Real> gather_model(const DistRatings<Real>& x, std::span<const RatingRows<Real>> users,
                               std::span<const RatingRows<Real>> items, const TravellingWords& words,
                               int root) {
  const auto all_users = gather_rows(x, users, RatingSide::user, words, root);
  const auto all_items = gather_rows(x, items, RatingSide::item, words, root);
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

template DistRatings<float> lay_out_ratings(const Comm&, const SplitRatings&, const RowOwners&, Rotation&&,
                                            const RatingLayout&);
template DistRatings<double> lay_out_ratings(const Comm&, const SplitRatings&, const RowOwners&, Rotation&&,
                                             const RatingLayout&);
template TrainedRows<float> transposed(TrainedRows<float>, RatingSide);
template TrainedRows<double> transposed(TrainedRows<double>, RatingSide);
template TrainedRows<float> gather_model(const DistRatings<float>&, std::span<const RatingRows<float>>,
                                         std::span<const RatingRows<float>>, const TravellingWords&, int);
template TrainedRows<double> gather_model(const DistRatings<double>&, std::span<const RatingRows<double>>,
                                          std::span<const RatingRows<double>>, const TravellingWords&, int);

}  // namespace polyad
