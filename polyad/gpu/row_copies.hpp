#pragma once

#include "polyad/base/on_device.hpp"
#include "polyad/base/types.hpp"

namespace polyad::gpu {

// Rows of a table and of a message, which has them one after the other, without padding. All memory is that
// of the GPU in use.
template <class Real>
struct RowCopies {
  Real* table = nullptr;
  const LocalIndex* list = nullptr;  // rows of the table; null: `first` and those that follow
  Index first = 0, num_rows = 0;
  int num_columns = 0, num_components = 0;  // columns of the table, and those that are no padding
  Real* message = nullptr;

  POLYAD_ON_DEVICE Index num_entries() const { return num_rows * num_components; }
};

// take: to the message; put: to the table; add: to what is in the table. Rows of a list are distinct.
enum class RowAction { take, put, add };

template <class Real>
POLYAD_ON_DEVICE void copy_entry(const RowCopies<Real>& x, RowAction action, Index entry) {
  const Index i = entry / x.num_components;
  const Index row = x.list == nullptr ? x.first + i : Index(x.list[i]);
  Real& of_table = x.table[row * x.num_columns + (entry - i * x.num_components)];
  Real& of_message = x.message[entry];
  if (action == RowAction::take)
    of_message = of_table;
  else
    of_table = action == RowAction::put ? of_message : of_table + of_message;
}

template <class Real>
void start_row_copies(const RowCopies<Real>& x, RowAction action);

}  // namespace polyad::gpu
