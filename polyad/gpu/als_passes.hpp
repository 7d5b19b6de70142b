#pragma once

#include <memory>
#include <span>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/base/row_place.hpp"
#include "polyad/gpu/chunked_nonzeros.hpp"
#include "polyad/gpu/device.hpp"
#include "polyad/kernels/cp/row_update.hpp"
#include "polyad/tensor/csf.hpp"

namespace polyad::gpu {

// What ALS needs of a mode: the nonzeros in a tree with the mode at its root, and the number of its rows.
template <class Real>
struct ModeNonzeros {
  const CsfTree<Real>* tree;
  Index num_rows;
};

// What exchanges of rows with other processes need on a GPU.
struct ExchangeRoom {
  Index num_words = 0;        // of messages that are under way at once, for the components that are wanted
  Index num_listed_rows = 0;  // of the lists that the exchanges of all modes keep

  Index bytes(Index value_bytes) const {
    return num_words * value_bytes + num_listed_rows * Index(sizeof(LocalIndex));
  }
};

// Passes over nonzeros on a GPU, which holds these and the factors. Sums are made in an order that depends on
// the nonzeros only: the same bits on every run.
template <class Real>
class AlsPasses {
 public:
  AlsPasses() = default;
  AlsPasses(const AlsPasses&) = delete;
  AlsPasses& operator=(const AlsPasses&) = delete;
  virtual ~AlsPasses() = default;

  // Rows of a factor from and to the memory of the machine: the first num_rows.
  virtual void put_rows(int mode, const Matrix<Real>& factor) = 0;
  virtual void get_rows(int mode, Matrix<Real>& factor, Index num_rows) = 0;

  // Begins to compute the MTTKRP of a mode, and does not wait.
  virtual void start_sums(int mode) = 0;

  // What an exchange of the rows of a mode with other processes works with, for as long as the passes live:
  // the sums that were started last, and the factor.
  virtual std::unique_ptr<RowPlace<Real>> rows_of(int mode, Index num_components, MessageMemory memory) = 0;
  // Memory of the GPU for messages.
  virtual std::span<Real> messages() = 0;
  // Makes copies of other memory fast, for as long as the passes live.
  virtual void copy_fast(std::span<const std::byte> memory, FastCopies::Access access) = 0;

  // Begins to compute rows [begin, end) of a factor from its sums, and does not wait: what is started next
  // may take their place.
  virtual void start_update(int mode, const kernels::RowSystem& system, Index begin, Index end) = 0;
  // The sums of the rows of the last update, for which it waits.
  virtual kernels::RowSums finish_update() = 0;

  // What the passes and updates of all modes read and write on the GPU, disregarding caches.
  virtual Index bytes_per_iteration() const = 0;
};

// Throws Error{resource}, which says what would fit, where the memory of a GPU is not enough for passes over
// such nonzeros, and Error{bad_option} where make_passes does.
void check_passes(int device, std::span<const ModeCounts> modes, Index num_components, Index value_bytes,
                  const ExchangeRoom& room = {});

// Copies the nonzeros to a GPU, with room for messages. Throws Error{resource} where its memory is not enough
// for this and for what rows_of needs, and Error{bad_option} where this program knows no GPUs or there is
// none with this index.
template <class Real>
std::unique_ptr<AlsPasses<Real>> make_passes(int device, std::span<const ModeNonzeros<Real>> modes,
                                             Index num_components, const ExchangeRoom& room = {});

}  // namespace polyad::gpu
