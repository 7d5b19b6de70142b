#include "polyad/io/tensors/coordinate_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "polyad/base/error.hpp"

namespace polyad::io {
namespace {

bool is_inside(const std::vector<Array<Index>>& indices, Index z, const std::vector<Index>& dims) {
  for (std::size_t m = 0; m < dims.size(); ++m)
    if (indices[m][z] < 0 || indices[m][z] >= dims[m]) return false;
  return true;
}

// Keeps what lies inside the dims.
void leave_out_others(CoordinateBatch& batch, const std::vector<Index>& dims) {
  Index kept = 0;
  for (Index z = 0; z < batch.size(); ++z) {
    if (!is_inside(batch.indices, z, dims)) continue;
    for (auto& column : batch.indices) column[kept] = column[z];
    if (!batch.values.empty()) batch.values[kept] = batch.values[z];
    ++kept;
  }
  for (auto& column : batch.indices) column.resize(std::size_t(kept));
  if (!batch.values.empty()) batch.values.resize(std::size_t(kept));
}

void check_inside(const std::filesystem::path& path, const CoordinateBatch& batch,
                  const std::vector<Index>& dims) {
  for (std::size_t m = 0; m < dims.size(); ++m) {
    const auto beyond = std::ranges::find_if(batch.indices[m], [&](Index index) { return index >= dims[m]; });
    if (beyond != batch.indices[m].end())
      throw Error(
          Errc::bad_input,
          fmt::format(
              "entry {}: index {} of mode {} (from 1) is beyond the dimension {} that the model states",
              beyond - batch.indices[m].begin() + 1, *beyond + 1, m + 1, dims[m]),
          {path.string(), 0});
  }
}

bool is_dense(TensorFormat format) {
  return format == TensorFormat::dense_tensor || format == TensorFormat::dense_matrix;
}

}  // namespace

CoordinateFile::CoordinateFile(std::filesystem::path path, const ReadOptions& options,
                               std::optional<Duplicates> rule)
    : path_(std::move(path)), options_(options), rule_(rule) {
  if (scan() == IndexBase::is_zero_after_all) {
    options_.index_base = 0;
    scan();
    notes_.emplace_back(note_of_zero);
  }
  // Lines were checked as they were read; what comes whole has dims of its own.
  const bool comes_whole = is_binary(format_) || is_dense(format_);
  if (comes_whole && options_.space->unknown() == IndexSpace::Unknown::fault)
    check_inside(path_, *only_batch_, options_.space->dims());
  if (rule_ && has_values_) combine_duplicates();
  options_.progress = nullptr;
}

void CoordinateFile::for_each_batch(const std::function<void(const CoordinateBatch&)>& fn) const {
  if (only_batch_) return fn(*only_batch_);
  Index line = 0;
  for_each_slab(path_, options_, [&](Slab&& slab) {
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
      for_each_slab(path_, options_, [&](Slab&& slab) {
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

CoordinateFile::IndexBase CoordinateFile::scan() {
  FileHead head;
  SlabFacts whole;
  Index num_slabs = 0;
  num_coordinates_ = num_unknown_ = 0;
  repeated_ = {};
  for_each_slab(path_, options_, [&](Slab&& slab) {
    head = slab.head;
    whole = merge(whole, slab.facts);
    const auto read = Index(slab.values.size());
    auto batch = batch_of(std::move(slab));
    num_coordinates_ += batch.size();
    num_unknown_ += read - batch.size();
    if (rule_ && head.has_values) repeated_.note(batch.indices);
    only_batch_ = ++num_slabs == 1 ? std::optional(std::move(batch)) : std::nullopt;
  });
  if (counts_from_zero(head, whole, options_)) return IndexBase::is_zero_after_all;
  format_ = head.format;
  has_values_ = head.has_values;
  notes_ = head.notes;
  if (!is_dense(head.format)) check_count(head, whole, options_, notes_);
  return IndexBase::settled;
}

CoordinateBatch CoordinateFile::batch_of(Slab&& slab) const {
  CoordinateBatch batch{std::move(slab.indices), {}};
  if (slab.head.has_values) batch.values = std::move(slab.values);
  if (options_.space->unknown() == IndexSpace::Unknown::leave_out)
    leave_out_others(batch, options_.space->dims());
  return batch;
}

}  // namespace polyad::io
