#include "polyad/tensor/repeated_cells.hpp"

#include <algorithm>
#include <bit>

#include "polyad/base/parallel.hpp"

namespace polyad {
namespace {

constexpr int bucket_bits = 8;

std::uint64_t hash_of_line(RepeatedCells::Cells cells, Index line) {
  return cell_hash(int(cells.size()), [&](int mode) { return cells[std::size_t(mode)][line]; });
}

Index num_lines(RepeatedCells::Cells cells) {
  return cells.empty() ? 0 : std::ssize(cells[0]);
}

// Of sorted hashes, those that occur several times, once.
std::vector<std::uint64_t> repeated_of(const std::vector<std::uint64_t>& sorted) {
  std::vector<std::uint64_t> repeated;
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i] == sorted[i - 1] && (repeated.empty() || repeated.back() != sorted[i]))
      repeated.push_back(sorted[i]);
  return repeated;
}

}  // namespace

void RepeatedCells::note(Cells cells) {
  noted_.resize(std::size_t(1) << bucket_bits);
  Array<std::uint64_t> hashes(static_cast<std::size_t>(num_lines(cells)));
  parallel_for(num_lines(cells), [&](Index line) { hashes[line] = hash_of_line(cells, line); });
  for (const auto hash : hashes) noted_[hash >> (64 - bucket_bits)].push_back(hash);
}

bool RepeatedCells::find() {
  std::vector<std::vector<std::uint64_t>> repeated(noted_.size());
  parallel_for(std::ssize(noted_), [&](Index bucket) {
    std::ranges::sort(noted_[bucket]);
    repeated[bucket] = repeated_of(noted_[bucket]);
    std::vector<std::uint64_t>().swap(noted_[bucket]);
  });
  for (const auto& of_bucket : repeated) hashes_.insert(hashes_.end(), of_bucket.begin(), of_bucket.end());
  first_cells_.assign(hashes_.size(), -1);
  num_bits_ = std::max(1, int(std::bit_width(hashes_.size())));  // about one hash for each place
  for (std::uint64_t first = 0; !hashes_.empty() && first <= std::uint64_t(1) << num_bits_; ++first) {
    const Index before = begins_.empty() ? 0 : begins_.back();
    const auto begin = std::find_if(hashes_.begin() + before, hashes_.end(),
                                    [&](std::uint64_t hash) { return hash >> (64 - num_bits_) >= first; });
    begins_.push_back(begin - hashes_.begin());
  }
  return !hashes_.empty();
}

void RepeatedCells::collect(Cells cells, std::span<const double> values) {
  const auto places = places_of(cells);
  for (Index line = 0; line < num_lines(cells); ++line, ++num_lines_) {
    const Index place = places[line];
    if (place < 0) continue;
    auto cell = find_cell(cells, line, place);
    if (cell >= 0) {
      ++num_repeated_;
    } else {
      cell = std::ssize(cells_);
      cells_.push_back({num_lines_, first_cells_[place], {}});
      first_cells_[place] = cell;
      for (const auto& of_mode : cells) coordinates_.push_back(of_mode[line]);
    }
    cells_[cell].value.add(values[line]);
  }
}

void RepeatedCells::merge(std::vector<Array<Index>>& cells, Array<double>& values, Index first_line,
                          Duplicates rule) const {
  const auto places = places_of(cells);
  Index kept = 0;
  for (Index line = 0; line < num_lines(cells); ++line) {
    double value = rule == Duplicates::count ? 1 : values[line];
    if (places[line] >= 0) {
      const auto& cell = cells_[find_cell(cells, line, places[line])];
      if (cell.first_line != first_line + line) continue;
      value = cell.value.combined(rule);
    }
    for (auto& of_mode : cells) of_mode[kept] = of_mode[line];
    values[kept++] = value;
  }
  for (auto& of_mode : cells) of_mode.resize(std::size_t(kept));
  values.resize(std::size_t(kept));
}

Array<Index> RepeatedCells::places_of(Cells cells) const {
  Array<Index> places(static_cast<std::size_t>(num_lines(cells)));
  parallel_for(num_lines(cells), [&](Index line) { places[line] = place_of(hash_of_line(cells, line)); });
  return places;
}

Index RepeatedCells::place_of(std::uint64_t hash) const {
  if (hashes_.empty()) return -1;
  const auto first_bits = hash >> (64 - num_bits_);
  const auto begin = hashes_.begin() + begins_[first_bits], end = hashes_.begin() + begins_[first_bits + 1];
  const auto found = std::find(begin, end, hash);
  return found == end ? -1 : found - hashes_.begin();
}

Index RepeatedCells::find_cell(Cells cells, Index line, Index place) const {
  const auto order = std::ssize(cells);
  for (Index cell = first_cells_[place]; cell >= 0; cell = cells_[cell].next) {
    const Index* const coordinates = coordinates_.data() + cell * order;
    Index mode = 0;
    while (mode < order && cells[mode][line] == coordinates[mode]) ++mode;
    if (mode == order) return cell;
  }
  return -1;
}

}  // namespace polyad
