#include "polyad/kernels/ratings/rating_blocks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "polyad/base/matrix.hpp"
#include "polyad/base/parallel.hpp"

namespace polyad::kernels {
namespace {

// [row]: its band, such that the bands have about as many ratings each.
std::vector<int> cut_into_bands(std::span<const Index> counts, Index num_bands) {
  const Index total = std::accumulate(counts.begin(), counts.end(), Index(0));
  std::vector<int> bands(counts.size());
  Index before = 0;
  for (std::size_t row = 0; row < counts.size(); ++row) {
    const Index middle = before + counts[row] / 2;
    bands[row] = total == 0 ? 0 : int(std::min(middle * num_bands / total, num_bands - 1));
    before += counts[row];
  }
  return bands;
}

template <class Real>
std::vector<int> bands_of(std::span<const LocalRating<Real>> ratings, LocalIndex LocalRating<Real>::*side,
                          Index num_rows, Index num_bands) {
  std::vector<Index> counts(std::size_t(num_rows), 0);
  for (const auto& rating : ratings) ++counts[rating.*side];
  return cut_into_bands(counts, num_bands);
}

// How many ratings of each block a thread meets in its part: (thread, place).
template <class Real, class PlaceOf>
Matrix<Index> count_by_thread(std::span<const LocalRating<Real>> ratings, Index num_places,
                              PlaceOf place_of) {
  Matrix<Index> counts(num_threads(), num_places);
  parallel_parts(std::ssize(ratings), [&](Index begin, Index end, int thread) {
    for (Index z = begin; z < end; ++z) ++counts(thread, place_of(ratings[std::size_t(z)]));
  });
  return counts;
}

// Sorts the ratings of a block by user and item, cuts them between users into some streams of nearly equal
// length, and takes one of each in turn.
template <class Real>
void interleave(std::span<LocalRating<Real>> ratings) {
  using Rating = LocalRating<Real>;
  std::ranges::sort(ratings, [](const Rating& a, const Rating& b) {
    return a.user != b.user ? a.user < b.user : a.item < b.item;
  });
  const Index count = std::ssize(ratings), streams = interleaved_ratings;
  std::array<Index, interleaved_ratings + 1> cuts;
  cuts.front() = 0;
  cuts.back() = count;
  for (Index s = 1; s < streams; ++s) {
    Index cut = std::max(part_begin(count, s, streams), cuts[std::size_t(s - 1)]);
    while (cut > 0 && cut < count && ratings[std::size_t(cut)].user == ratings[std::size_t(cut - 1)].user)
      ++cut;
    cuts[std::size_t(s)] = cut;
  }
  Array<Rating> sorted(ratings.begin(), ratings.end());
  std::array<Index, interleaved_ratings> next;
  std::copy_n(cuts.begin(), streams, next.begin());
  for (std::size_t to = 0; to < ratings.size();)
    for (std::size_t s = 0; s < next.size(); ++s)
      if (next[s] < cuts[s + 1]) ratings[to++] = sorted[std::size_t(next[s]++)];
}

}  // namespace

Index block_place(Index step, Index user_band) {
  Index place = 0;
  for (int bit = 0; (step | user_band) >> bit != 0; ++bit)
    place |= ((step >> bit & 1) << 1 | (user_band >> bit & 1)) << (2 * bit);
  return place;
}

Index num_rating_bands(Index num_ratings) {
  constexpr Index maximum = 64, ratings_per_block = 2048;
  const auto bands = Index(std::sqrt(double(num_ratings) / ratings_per_block));
  return Index(std::bit_floor(std::uint64_t(std::clamp(bands, Index(1), maximum))));
}

template <class Real>
RatingBlocks<Real> arrange_ratings(Array<LocalRating<Real>> ratings, Index num_users, Index num_items) {
  using Rating = LocalRating<Real>;
  RatingBlocks<Real> result;
  const Index n = result.num_bands = num_rating_bands(std::ssize(ratings));
  const auto users = bands_of<Real>(ratings, &Rating::user, num_users, n);
  const auto items = bands_of<Real>(ratings, &Rating::item, num_items, n);
  const auto place_of = [&](const Rating& rating) {
    const Index band = users[rating.user];
    return block_place(band ^ items[rating.item], band);
  };
  result.begin = {0};
  auto next = count_by_thread<Real>(ratings, n * n, place_of);
  for (Index place = 0; place < n * n; ++place) {
    Index end = result.begin.back();
    for (Index thread = 0; thread < next.num_rows(); ++thread) {
      const Index count = std::exchange(next(thread, place), end);
      end += count;
    }
    result.begin.push_back(end);
  }
  result.ratings.resize(ratings.size());
  parallel_parts(std::ssize(ratings), [&](Index begin, Index end, int thread) {
    for (Index z = begin; z < end; ++z) result.ratings[next(thread, place_of(ratings[z]))++] = ratings[z];
  });
  parallel_for(n * n, [&](Index place) {
    const auto first = result.ratings.begin();
    interleave<Real>({first + result.begin[place], first + result.begin[place + 1]});
  });
  return result;
}

template RatingBlocks<float> arrange_ratings(Array<LocalRating<float>>, Index, Index);
template RatingBlocks<double> arrange_ratings(Array<LocalRating<double>>, Index, Index);

}  // namespace polyad::kernels
