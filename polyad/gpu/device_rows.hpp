#pragma once

#include <cassert>
#include <vector>

#include "polyad/base/row_place.hpp"
#include "polyad/gpu/device.hpp"
#include "polyad/gpu/row_copies.hpp"

namespace polyad::gpu {

// The rows of a mode on a GPU.
template <class Real>
struct RowTable {
  int device = 0;
  Real *sums = nullptr, *factor = nullptr;
  Index num_columns = 0, num_components = 0;
  Real* messages = nullptr;  // on the GPU: the rows that are copied at once
};

// They travel in messages that a kernel packs, and unpacks. Where MPI takes no memory of a GPU, these are
// copied from and to that of the machine.
template <class Real>
class DeviceRows final : public RowPlace<Real> {
 public:
  DeviceRows(const RowTable<Real>& table, MessageMemory memory) : table_(table), memory_(memory) {}

  SentRows sends() const override {
    return memory_ == MessageMemory::machine ? SentRows::copied
                                             : sent_rows(table_.num_components, table_.num_columns);
  }
  std::span<Real> sums_in_place(Index begin, Index end) override { return part(table_.sums, begin, end); }
  std::span<Real> rows_in_place(Index begin, Index end) override { return part(table_.factor, begin, end); }

  int keep_list(std::span<const LocalIndex> rows) override {
    use_device(table_.device);
    lists_.emplace_back(rows);
    return int(lists_.size()) - 1;
  }

  bool acts_at_once() const override { return false; }
  void finish() override {
    use_device(table_.device);
    done_.record();
    done_.wait();
  }
  void take_sums(Index begin, Index end, Real* to) override { take(table_.sums, nullptr, begin, end, to); }
  void put_sums(const Real* from, Index begin, Index end) override {
    give(RowAction::put, from, table_.sums, nullptr, begin, end);
  }
  void put_rows(const FoundRows<Real>& from, Index begin, Index end) override {
    give(RowAction::put, packed(from), table_.factor, nullptr, begin, end);
  }
  void take_rows(int list, Index begin, Index end, Real* to) override {
    take(table_.factor, lists_[list].data() + begin, 0, end - begin, to);
  }
  void add_sums(const FoundRows<Real>& from, int list, Index begin, Index end) override {
    give(RowAction::add, packed(from), table_.sums, lists_[list].data() + begin, 0, end - begin);
  }

 private:
  // Rows that are on a GPU are always left as they are in messages.
  const Real* packed(const FoundRows<Real>& from) const {
    assert(from.stride == table_.num_components && from.list.empty());
    return from.first;
  }
  std::span<Real> part(Real* rows, Index begin, Index end) const {
    return {rows + begin * table_.num_columns, std::size_t((end - begin) * table_.num_columns)};
  }
  Index bytes(Index num_rows) const { return num_rows * table_.num_components * Index(sizeof(Real)); }
  bool is_contiguous(const LocalIndex* list) const {
    return list == nullptr && table_.num_components == table_.num_columns;
  }
  RowCopies<Real> copies(Real* rows, const LocalIndex* list, Index begin, Index end, Real* message) const {
    return {.table = rows,
            .list = list,
            .first = begin,
            .num_rows = end - begin,
            .num_columns = int(table_.num_columns),
            .num_components = int(table_.num_components),
            .message = message};
  }

  void take(Real* rows, const LocalIndex* list, Index begin, Index end, Real* to) {
    use_device(table_.device);
    if (memory_ == MessageMemory::device)
      return start_row_copies(copies(rows, list, begin, end, to), RowAction::take);
    const Real* packed = table_.messages;
    if (is_contiguous(list))
      packed = rows + begin * table_.num_columns;
    else
      start_row_copies(copies(rows, list, begin, end, table_.messages), RowAction::take);
    start_copy_to_host(to, packed, bytes(end - begin));
  }

  void give(RowAction action, const Real* from, Real* rows, const LocalIndex* list, Index begin, Index end) {
    use_device(table_.device);
    if (memory_ == MessageMemory::device)  // of this process's own messages
      return start_row_copies(copies(rows, list, begin, end, const_cast<Real*>(from)), action);
    if (action == RowAction::put && is_contiguous(list))
      return copy_to_device(rows + begin * table_.num_columns, from, bytes(end - begin));
    copy_to_device(table_.messages, from, bytes(end - begin));
    start_row_copies(copies(rows, list, begin, end, table_.messages), action);
  }

  RowTable<Real> table_;
  MessageMemory memory_;
  std::vector<DeviceArray<LocalIndex>> lists_;
  Event done_;
};

}  // namespace polyad::gpu
