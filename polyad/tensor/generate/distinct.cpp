#include "polyad/tensor/generate/distinct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/tensor/generate/check.hpp"
#include "polyad/tensor/generate/sampler.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

// How many rounds in a row may find less than one in a hundred of the missing coordinates.
constexpr int max_stalled_rounds = 16;
constexpr Index min_round = 1024;  // draws

// A draw of a sorted round that hits a coordinate first.
struct NewDraw {
  Index position;  // in the round
  Index ahead;     // how many of the coordinates known before are ahead of it
};

std::strong_ordering compare(const SparseTensor<double>& x, Index i, const SparseTensor<double>& y, Index j) {
  for (int m = 0; m < x.order(); ++m)
    if (const auto c = x.indices(m)[i] <=> y.indices(m)[j]; std::is_neq(c)) return c;
  return std::strong_ordering::equal;
}

// How many of the sorted `known` are ahead of y's j-th.
Index count_ahead(const SparseTensor<double>& known, const SparseTensor<double>& y, Index j) {
  Index begin = 0, end = known.num_nonzeros();
  while (begin < end) {
    const Index middle = begin + (end - begin) / 2;
    if (std::is_lt(compare(known, middle, y, j))) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

std::vector<NewDraw> find_new(const SparseTensor<double>& known, const SparseTensor<double>& round) {
  std::vector<std::vector<NewDraw>> found(num_threads());
  parallel_parts(round.num_nonzeros(), [&](Index begin, Index end, int thread) {
    if (begin == end) return;
    Index ahead = count_ahead(known, round, begin);
    for (Index z = begin; z < end; ++z) {
      const bool repeats = z > 0 && std::is_eq(compare(round, z - 1, round, z));
      if (repeats) continue;  // the sort is stable: the earlier draw comes first
      while (ahead < known.num_nonzeros() && std::is_lt(compare(known, ahead, round, z))) ++ahead;
      const bool is_known = ahead < known.num_nonzeros() && std::is_eq(compare(known, ahead, round, z));
      if (!is_known) found[thread].push_back({z, ahead});
    }
  });
  std::vector<NewDraw> all = std::move(found[0]);
  for (std::size_t t = 1; t < found.size(); ++t) all.insert(all.end(), found[t].begin(), found[t].end());
  return all;
}

// Keeps the `count` earliest of the new draws.
void keep_earliest(std::vector<NewDraw>& found, const SparseTensor<double>& round, Index count) {
  if (Index(found.size()) <= count) return;
  std::vector<double> numbers;
  numbers.reserve(found.size());
  for (const NewDraw& draw : found) numbers.push_back(round.values()[draw.position]);
  std::nth_element(numbers.begin(), numbers.begin() + count, numbers.end());
  const double first_too_many = numbers[count];
  std::erase_if(found, [&](const NewDraw& draw) { return round.values()[draw.position] >= first_too_many; });
}

// One column of the union: stretches of what was known, with the new draws between them.
template <class T>
void merge_column(std::span<const T> known, std::span<const T> round, const std::vector<NewDraw>& found,
                  std::span<T> out) {
  const Index count = Index(found.size());
  parallel_for(count + 1, [&](Index k) {
    const Index from = k == 0 ? 0 : found[k - 1].ahead;
    const Index to = k == count ? Index(known.size()) : found[k].ahead;
    std::copy(known.begin() + from, known.begin() + to, out.begin() + from + k);
    if (k < count) out[to + k] = round[found[k].position];
  });
}

SparseTensor<double> merged(const SparseTensor<double>& known, const SparseTensor<double>& round,
                            const std::vector<NewDraw>& found) {
  SparseTensor<double> out(known.extents());
  out.resize(known.num_nonzeros() + Index(found.size()));
  for (int m = 0; m < known.order(); ++m)
    merge_column(known.indices(m), round.indices(m), found, out.indices(m));
  merge_column(known.values(), round.values(), found, out.values());
  return out;
}

// The share of new coordinates among the last draws of a round, which tells how many draws the missing
// ones will take: it falls as the tensor fills.
double late_share(const std::vector<NewDraw>& found, const SparseTensor<double>& round, Index drawn) {
  const Index late = round.num_nonzeros() / 8;
  const auto is_late = [&](const NewDraw& draw) {
    return round.values()[draw.position] >= double(drawn - late);
  };
  return double(std::count_if(found.begin(), found.end(), is_late)) / double(late);
}

[[noreturn]] void fail_stalled(Index wanted, Index found, Index drawn) {
  throw Error(
      Errc::bad_option,
      option_name("#num_nonzeros") +
          fmt::format("only {} distinct coordinates could be drawn of the {} asked for ({} draws): ask for "
                      "fewer nonzeros, larger dimensions or less skew",
                      found, wanted, drawn));
}

}  // namespace

SparseTensor<double> distinct_draws(const SkewedOptions& options) {
  check_options(options);
  const SkewedSampler sampler(options);
  const auto modes = natural_mode_order(int(options.dims.size()));
  const Index max_round = std::max(options.num_nonzeros, min_round);
  SparseTensor<double> known(options.dims);
  Index drawn = 0, round_size = max_round;
  for (int stalled = 0; known.num_nonzeros() < options.num_nonzeros;) {
    auto round = sampler.draws(drawn, drawn + round_size);
    drawn += round_size;
    sort_nonzeros(round, modes);
    auto found = find_new(known, round);
    const Index missing = options.num_nonzeros - known.num_nonzeros();
    const double share = late_share(found, round, drawn);
    stalled = Index(found.size()) < missing / 100 + 1 ? stalled + 1 : 0;
    keep_earliest(found, round, missing);
    known = merged(known, round, found);
    if (stalled == max_stalled_rounds) fail_stalled(options.num_nonzeros, known.num_nonzeros(), drawn);
    const double wanted = 1.05 * double(missing - Index(found.size())) / std::max(share, 1e-9);
    round_size = Index(std::clamp(wanted, double(min_round), double(max_round)));
  }
  return known;
}

}  // namespace polyad
