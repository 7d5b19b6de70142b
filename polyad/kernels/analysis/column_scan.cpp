#include "polyad/kernels/analysis/column_scan.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "polyad/base/parallel.hpp"

namespace polyad::kernels {
namespace {

// The strongest few of each column, kept sorted. Points are offered by ascending index: of equals the
// first is kept.
class Strongest {
 public:
  Strongest(Index num_columns, Index limit)
      : limit_(std::size_t(std::max<Index>(1, limit))), to_beat_(num_columns, 0.0), lists_(num_columns) {}

  void offer(Index column, const FactorEntry& point) {
    const auto magnitude = [](const FactorEntry& p) { return std::abs(p.value); };
    if (magnitude(point) <= to_beat_[column]) return;
    auto& list = lists_[column];
    list.insert(std::ranges::upper_bound(list, magnitude(point), std::greater{}, magnitude), point);
    if (list.size() > limit_) list.pop_back();
    if (list.size() == limit_) to_beat_[column] = magnitude(list.back());
  }

  const std::vector<std::vector<FactorEntry>>& lists() const { return lists_; }

 private:
  std::size_t limit_;
  std::vector<double> to_beat_;  // [column]: zero until there are enough
  std::vector<std::vector<FactorEntry>> lists_;
};

// The least and the greatest value of a column in one stretch of the mode.
struct Extremes {
  FactorEntry minimum, greatest;

  void widen(const FactorEntry& point) {
    if (point.value < minimum.value) minimum = point;
    if (point.value > greatest.value) greatest = point;
  }
};

// A mode cut into stretches of nearly equal length, and the rows that the factor has in them.
struct Stretches {
  std::span<const Index> rows;
  Index extent;
  Index count;

  Index begin(Index stretch) const { return part_begin(extent, stretch, count); }
  Index first_row(Index stretch) const {
    return std::ranges::lower_bound(rows, begin(stretch)) - rows.begin();
  }
  // The first index of the stretch that has no row, or its end.
  Index first_gap(Index stretch) const {
    Index index = begin(stretch);
    for (Index row = first_row(stretch); row < std::ssize(rows) && rows[row] == index; ++row) ++index;
    return std::min(index, begin(stretch + 1));
  }
};

template <class Real>
double finite_value(Real value) {
  return std::isfinite(value) ? double(value) : 0.0;
}

template <class Real>
void scan_stretch(const Matrix<Real>& factor, const Stretches& stretches, Index s,
                  std::span<Extremes> extremes, Strongest& strongest) {
  const Index begin = stretches.first_row(s), end = stretches.first_row(s + 1);
  const Index gap = stretches.first_gap(s);
  for (Index r = 0; r < factor.num_cols(); ++r) {
    const bool has_gap = gap < stretches.begin(s + 1);
    const FactorEntry first =
        has_gap ? FactorEntry{gap, 0} : FactorEntry{stretches.rows[begin], finite_value(factor(begin, r))};
    extremes[r] = {first, first};
  }
  for (Index row = begin; row < end; ++row) {
    const auto values = factor.row(row);
    for (Index r = 0; r < factor.num_cols(); ++r) {
      const FactorEntry point{stretches.rows[row], finite_value(values[r])};
      extremes[r].widen(point);
      strongest.offer(r, point);
    }
  }
}

void append(std::vector<FactorEntry>& line, const Extremes& e) {
  line.push_back(e.minimum.index < e.greatest.index ? e.minimum : e.greatest);
  if (e.minimum.index != e.greatest.index)
    line.push_back(e.minimum.index < e.greatest.index ? e.greatest : e.minimum);
}

}  // namespace

template <class Real>
ColumnFindings scan_columns(const KruskalRows<Real>& model, int mode, Index num_strongest) {
  const Index n = model.num_components(), extent = model.extents[mode];
  Stretches stretches{{}, extent, extent <= max_line_points ? extent : max_line_points / 2};
  Matrix<Extremes> extremes(stretches.count, n);
  Strongest strongest(n, num_strongest);
  // As many whole stretches at a time as there are rows worth asking for.
  const Index longest = extent / std::max<Index>(1, stretches.count) + 1;
  const Index at_once = std::max<Index>(1, rows_at_once(n) / longest);
  for (Index first = 0; first < stretches.count; first += at_once) {
    const Index last = std::min(stretches.count, first + at_once);
    const auto block = model.read(mode, stretches.begin(first), stretches.begin(last));
    stretches.rows = block.rows;
    std::vector<Strongest> found(num_threads(), Strongest(n, num_strongest));
    parallel_parts(last - first, [&](Index begin, Index end, int thread) {
      for (Index s = first + begin; s < first + end; ++s)
        scan_stretch(block.values, stretches, s, extremes.row(s), found[thread]);
    });
    for (const auto& part : found)
      for (Index r = 0; r < n; ++r)
        for (const auto& point : part.lists()[r]) strongest.offer(r, point);
  }
  ColumnFindings findings{strongest.lists(), std::vector<std::vector<FactorEntry>>(n)};
  for (Index r = 0; r < n; ++r)
    for (Index s = 0; s < stretches.count; ++s) append(findings.lines[r], extremes(s, r));
  return findings;
}

template ColumnFindings scan_columns(const KruskalRows<float>&, int, Index);
template ColumnFindings scan_columns(const KruskalRows<double>&, int, Index);

}  // namespace polyad::kernels
