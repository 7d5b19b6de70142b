#include "polyad/distributed/ratings/rotation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "polyad/base/error.hpp"
#include "polyad/base/matrix.hpp"
#include "polyad/base/random.hpp"

namespace polyad {
namespace {

// Who learns from how many ratings, and when.
class Schedule {
 public:
  Schedule(const ColumnShares& columns, int num_sub_epochs)
      : columns_(columns),
        num_sub_epochs_(num_sub_epochs),
        sub_epoch_(std::size_t(columns.num_shares()), 0),
        loads_(columns.num_parts, num_sub_epochs) {}

  Array<int> make() {
    for (const Index column : by_falling_ratings()) place(column);
    for (int t = 0; t < num_sub_epochs_; ++t) peaks_.push_back(peak_of(t));
    for (int pass = 0; pass < num_passes; ++pass)
      if (!improve()) break;
    return std::move(sub_epoch_);
  }

 private:
  static constexpr int num_passes = 4;

  std::vector<Index> by_falling_ratings() const {
    std::vector<Index> totals(std::size_t(columns_.num_columns()), 0), order(totals.size());
    for (std::size_t j = 0; j < totals.size(); ++j)
      totals[j] = std::accumulate(columns_.ratings.begin() + columns_.begin[j],
                                  columns_.ratings.begin() + columns_.begin[j + 1], Index(0));
    std::iota(order.begin(), order.end(), Index(0));
    std::ranges::stable_sort(order, std::greater{}, [&](Index j) { return totals[std::size_t(j)]; });
    return order;
  }

  std::vector<Index> shares_of(Index column) const {
    std::vector<Index> shares(std::size_t(columns_.connectivity(column)));
    std::iota(shares.begin(), shares.end(), columns_.begin[column]);
    return shares;
  }

  // Every sub-epoch gets as many parts of a column as the others, or one more.
  void place(Index column) {
    auto shares = shares_of(column);
    std::ranges::stable_sort(shares, std::greater{}, [&](Index s) { return columns_.ratings[s]; });
    const Index each = std::ssize(shares) / num_sub_epochs_;
    Index may_have_more = std::ssize(shares) % num_sub_epochs_;
    std::vector<Index> taken(std::size_t(num_sub_epochs_), 0);
    for (const Index share : shares) {
      const auto load = loads_.row(columns_.parts[share]);
      int best = -1;
      for (int t = 0; t < num_sub_epochs_; ++t) {
        const bool is_free = taken[std::size_t(t)] < each + (may_have_more > 0 ? 1 : 0);
        if (is_free && (best < 0 || load[std::size_t(t)] < load[std::size_t(best)])) best = t;
      }
      if (taken[std::size_t(best)]++ == each) --may_have_more;
      sub_epoch_[share] = best;
      loads_(columns_.parts[share], best) += columns_.ratings[share];
    }
  }

  // The largest load of a sub-epoch, whose it is, and the next one.
  struct Peak {
    Index maximum = 0, second = 0;
    int part = 0;

    Index without(int other) const { return other == part ? second : maximum; }
  };
  Peak peak_of(int t) const {
    Peak peak;
    for (int part = 0; part < columns_.num_parts; ++part) {
      const Index load = loads_(part, t);
      if (load > peak.maximum)
        peak = {load, peak.maximum, part};
      else
        peak.second = std::max(peak.second, load);
    }
    return peak;
  }

  // Exchanges shares of the busiest parts with others of their column. Returns whether any was exchanged.
  bool improve() {
    bool is_better = false;
    for (Index column = 0; column < columns_.num_columns(); ++column)
      for (Index share = columns_.begin[column]; share < columns_.begin[column + 1]; ++share)
        if (columns_.parts[share] == peaks_[std::size_t(sub_epoch_[share])].part)
          is_better |= exchange(column, share) || move_to_free(column, share);
    return is_better;
  }

  bool exchange(Index column, Index share) {
    const int t = sub_epoch_[share], part = columns_.parts[share];
    for (Index other = columns_.begin[column]; other < columns_.begin[column + 1]; ++other) {
      const int u = sub_epoch_[other], partner = columns_.parts[other];
      if (u == t) continue;
      const Index out = columns_.ratings[share], in = columns_.ratings[other];
      const Index at_t =
          std::max({peaks_[std::size_t(t)].without(part), loads_(part, t) - out, loads_(partner, t) + in});
      const Index at_u =
          std::max({peaks_[std::size_t(u)].without(partner), loads_(partner, u) - in, loads_(part, u) + out});
      if (!is_less(at_t + at_u, t, u)) continue;
      shift(share, u);
      shift(other, t);
      look_again(t, u);
      return true;
    }
    return false;
  }

  // A column with fewer parts than there are sub-epochs leaves some of them free.
  bool move_to_free(Index column, Index share) {
    if (columns_.connectivity(column) >= num_sub_epochs_) return false;
    std::vector<bool> taken(std::size_t(num_sub_epochs_), false);
    for (Index s = columns_.begin[column]; s < columns_.begin[column + 1]; ++s)
      taken[std::size_t(sub_epoch_[s])] = true;
    const int t = sub_epoch_[share], part = columns_.parts[share];
    const Index ratings = columns_.ratings[share];
    const Index at_t = std::max(peaks_[std::size_t(t)].without(part), loads_(part, t) - ratings);
    for (int u = 0; u < num_sub_epochs_; ++u) {
      if (taken[std::size_t(u)]) continue;
      if (!is_less(at_t + std::max(peaks_[std::size_t(u)].maximum, loads_(part, u) + ratings), t, u))
        continue;
      shift(share, u);
      look_again(t, u);
      return true;
    }
    return false;
  }

  bool is_less(Index after, int t, int u) const {
    return after < peaks_[std::size_t(t)].maximum + peaks_[std::size_t(u)].maximum;
  }

  void shift(Index share, int to) {
    const int part = columns_.parts[share];
    loads_(part, sub_epoch_[share]) -= columns_.ratings[share];
    loads_(part, to) += columns_.ratings[share];
    sub_epoch_[share] = to;
  }

  void look_again(int t, int u) {
    for (const int changed : {t, u}) peaks_[std::size_t(changed)] = peak_of(changed);
  }

  const ColumnShares& columns_;
  int num_sub_epochs_;
  Array<int> sub_epoch_;
  Matrix<Index> loads_;      // (part, sub-epoch), in ratings
  std::vector<Peak> peaks_;  // [sub-epoch]
};

Array<unsigned char> choose_owners(const Rotation& rotation, ColumnOwners rule, std::uint64_t seed) {
  constexpr std::uint64_t owner_stream = 0x6f776e;
  const Random random(seed, owner_stream);
  Array<unsigned char> owned(rotation.sub_epoch.size(), 0);
  std::vector<Index> received(std::size_t(rotation.num_parts()), 0);
  const auto received_by = [&](Index share) -> Index& {
    return received[std::size_t(rotation.columns.parts[share])];
  };
  const auto by_received = [&](Index a, Index b) { return received_by(a) < received_by(b); };
  for (Index column = 0; column < rotation.columns.num_columns(); ++column) {
    const auto shares = shares_in_order(rotation, column);
    for (auto begin = shares.begin(); begin != shares.end();) {
      const auto end = std::find_if(
          begin, shares.end(), [&](Index s) { return rotation.sub_epoch[s] != rotation.sub_epoch[*begin]; });
      const auto any = begin + Index(random.below(std::uint64_t(end - begin), std::uint64_t(*begin)));
      const Index owner = rule == ColumnOwners::random ? *any : *std::min_element(begin, end, by_received);
      owned[owner] = 1;
      received_by(owner) += end - begin - 1;
      begin = end;
    }
  }
  return owned;
}

template <class Of>
Index sum_over_columns(const ColumnShares& columns, Of of) {
  Index sum = 0;
  for (Index j = 0; j < columns.num_columns(); ++j) sum += of(columns.connectivity(j));
  return sum;
}

}  // namespace

std::vector<Index> shares_in_order(const Rotation& rotation, Index column) {
  std::vector<Index> shares(std::size_t(rotation.columns.connectivity(column)));
  std::iota(shares.begin(), shares.end(), rotation.columns.begin[column]);
  std::ranges::stable_sort(shares, {}, [&](Index s) { return rotation.sub_epoch[s]; });
  return shares;
}

Rotation plan_rotation(ColumnShares columns, int num_sub_epochs, ColumnOwners owners, std::uint64_t seed) {
  constexpr Index max_loads = Index(1) << 27;  // a gigabyte of them
  if (Index(columns.num_parts) * num_sub_epochs > max_loads)
    throw Error(Errc::resource, "out of memory: " + std::to_string(columns.num_parts) + " processes with " +
                                    std::to_string(num_sub_epochs) +
                                    " sub-epochs are more than can be planned");
  Rotation rotation{std::move(columns), num_sub_epochs, {}, {}};
  rotation.sub_epoch = Schedule(rotation.columns, num_sub_epochs).make();
  rotation.owned = choose_owners(rotation, owners, seed);
  return rotation;
}

Index rotation_volume(Index connectivity, Index num_sub_epochs) {
  if (connectivity <= 1) return 0;
  if (num_sub_epochs == 1) return 2 * (connectivity - 1);
  return connectivity <= num_sub_epochs ? connectivity : 2 * connectivity - num_sub_epochs;
}

Index rotation_staleness(Index connectivity, Index num_sub_epochs) {
  return std::max(Index(0), connectivity - num_sub_epochs);
}

double rotation_progress(const ColumnShares& columns, Index num_sub_epochs) {
  double moved = 0, all = 0;
  for (Index j = 0; j < columns.num_columns(); ++j) {
    const Index lambda = columns.connectivity(j);
    if (lambda == 0) continue;
    const auto ratings = double(columns.num_ratings(j));
    all += ratings;
    moved += ratings * double(std::min(lambda, num_sub_epochs)) / double(lambda);
  }
  return all > 0 ? std::sqrt(moved / all) : 1;
}

Index rotation_volume(const ColumnShares& columns, Index num_sub_epochs) {
  return sum_over_columns(columns, [&](Index k) { return rotation_volume(k, num_sub_epochs); });
}

Index rotation_staleness(const ColumnShares& columns, Index num_sub_epochs) {
  return sum_over_columns(columns, [&](Index k) { return rotation_staleness(k, num_sub_epochs); });
}

}  // namespace polyad
