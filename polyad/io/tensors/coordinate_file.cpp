#include "polyad/io/tensors/coordinate_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "polyad/base/error.hpp"
#include "polyad/io/tensors/date_columns.hpp"
#include "polyad/io/tensors/file_series.hpp"

namespace polyad::io {
namespace {

bool is_inside(const std::vector<Array<Index>>& indices, Index z, const IndexSpace& space) {
  for (int m = 0; m < space.order(); ++m)
    if (!space.holds(m, indices[std::size_t(m)][z])) return false;
  return true;
}

// Keeps what the model has.
void leave_out_others(CoordinateBatch& batch, const IndexSpace& space) {
  Index kept = 0;
  for (Index z = 0; z < batch.size(); ++z) {
    if (!is_inside(batch.indices, z, space)) continue;
    for (auto& column : batch.indices) column[kept] = column[z];
    if (!batch.values.empty()) batch.values[kept] = batch.values[z];
    ++kept;
  }
  for (auto& column : batch.indices) column.resize(std::size_t(kept));
  if (!batch.values.empty()) batch.values.resize(std::size_t(kept));
}

void check_inside(const std::filesystem::path& path, const std::vector<Array<Index>>& indices,
                  const std::vector<Index>& dims) {
  for (std::size_t m = 0; m < dims.size(); ++m) {
    const auto beyond = std::ranges::find_if(indices[m], [&](Index index) { return index >= dims[m]; });
    if (beyond != indices[m].end())
      throw Error(
          Errc::bad_input,
          fmt::format(
              "entry {}: index {} of mode {} (from 1) is beyond the dimension {} that the model states",
              beyond - indices[m].begin() + 1, *beyond + 1, m + 1, dims[m]),
          {path.string(), 0});
  }
}

bool is_dense(TensorFormat format) {
  return format == TensorFormat::dense_tensor || format == TensorFormat::dense_matrix;
}

}  // namespace

CoordinateFile::CoordinateFile(std::vector<std::filesystem::path> files, const ReadOptions& options,
                               std::optional<Duplicates> rule)
    : files_(std::move(files)), options_(settle_dates(files_, options, date_notes_)), rule_(rule) {
  if (scan() == IndexBase::is_zero_after_all) {
    options_.index_base = 0;
    scan();
    notes_.emplace_back(note_of_zero);
  }
  if (rule_ && has_values_) combine_duplicates();
  options_.progress = nullptr;
}

void CoordinateFile::for_each_batch(const std::function<void(const CoordinateBatch&)>& fn) const {
  if (only_batch_) return fn(*only_batch_);
  Index line = 0;
  for_each_file_slab([&](std::size_t, Slab&& slab) {
    auto batch = batch_of(std::move(slab));
    const Index count = batch.size();
    if (rule_) merge_lines(batch, line);
    fn(batch);
    line += count;
  });
}

void CoordinateFile::combine_duplicates() {
  if (repeated_.find()) {
    if (only_batch_)
      repeated_.collect(only_batch_->indices, only_batch_->values);
    else
      for_each_file_slab([&](std::size_t, Slab&& slab) {
        const auto batch = batch_of(std::move(slab));
        repeated_.collect(batch.indices, batch.values);
      });
  }
  if (only_batch_) merge_lines(*only_batch_, 0);
  if (rule_ != Duplicates::refuse) num_coordinates_ -= num_duplicates();
}

void CoordinateFile::merge_lines(CoordinateBatch& batch, Index first_line) const {
  const bool keeps_lines = num_duplicates() == 0 && rule_ != Duplicates::count;
  if (has_values_ && rule_ != Duplicates::refuse && !keeps_lines)
    repeated_.merge(batch.indices, batch.values, first_line, *rule_);
}

void CoordinateFile::for_each_file_slab(const std::function<void(std::size_t, Slab&&)>& fn) const {
  std::optional<FileHead> first;
  ReadOptions read = options_;
  for (std::size_t f = 0; f < files_.size(); ++f)
    for_each_slab(files_[f], read, [&](Slab&& slab) {
      if (f > 0) check_fits(slab.head, *first);
      if (!first) {
        first = slab.head;
        read = options_like(*first, options_);
      }
      fn(f, std::move(slab));
    });
}

// Lines were checked as they were read; what comes whole has dims of its own.
void CoordinateFile::check_whole(const std::filesystem::path& file, const Slab& slab) const {
  const bool comes_whole = is_binary(slab.head.format) || is_dense(slab.head.format);
  if (comes_whole && options_.space->unknown() == IndexSpace::Unknown::fault)
    check_inside(file, slab.indices, options_.space->dims());
}

CoordinateFile::IndexBase CoordinateFile::scan() {
  std::vector<FileHead> heads(files_.size());
  std::vector<SlabFacts> facts(files_.size());
  Index num_slabs = 0;
  num_coordinates_ = num_unknown_ = 0;
  repeated_ = {};
  for_each_file_slab([&](std::size_t f, Slab&& slab) {
    heads[f] = slab.head;
    facts[f] = merge(facts[f], slab.facts);
    check_whole(files_[f], slab);
    const auto read = Index(slab.values.size());
    auto batch = batch_of(std::move(slab));
    num_coordinates_ += batch.size();
    num_unknown_ += read - batch.size();
    if (rule_ && heads[f].has_values) repeated_.note(batch.indices);
    only_batch_ = ++num_slabs == 1 ? std::optional(std::move(batch)) : std::nullopt;
  });
  SlabFacts whole;
  for (const auto& of_file : facts) whole = merge(whole, of_file);
  if (counts_from_zero(heads[0], whole, options_)) return IndexBase::is_zero_after_all;
  format_ = heads[0].format;
  has_values_ = heads[0].has_values;
  notes_ = heads[0].notes;
  notes_.insert(notes_.end(), date_notes_.begin(), date_notes_.end());
  for (std::size_t f = 0; f < heads.size(); ++f)
    if (!is_dense(format_)) check_count(heads[f], facts[f], options_, notes_);
  note_left_out(whole, options_, notes_);
  return IndexBase::settled;
}

CoordinateBatch CoordinateFile::batch_of(Slab&& slab) const {
  CoordinateBatch batch{std::move(slab.indices), {}};
  if (slab.head.has_values) batch.values = std::move(slab.values);
  if (options_.space->unknown() == IndexSpace::Unknown::leave_out) leave_out_others(batch, *options_.space);
  return batch;
}

}  // namespace polyad::io
