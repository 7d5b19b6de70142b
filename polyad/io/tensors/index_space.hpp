#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "polyad/base/types.hpp"
#include "polyad/tensor/labels.hpp"

namespace polyad::io {

// Dimensions and labels that a file of coordinates must conform to, because
// they are known before it is read: those of a model. The order determines
// whether lines have a value, the labels which index a name stands for.
class IndexSpace {
 public:
  // What happens to a line with an index or name that the model does not have.
  enum class Unknown {
    fault,
    leave_out,
    keep  // an index beyond the dims stays what it is; a name gets an index beyond them
  };

  IndexSpace(std::vector<Index> dims, std::vector<ModeLabels> labels, Unknown unknown);
  IndexSpace(const IndexSpace&) = delete;
  IndexSpace& operator=(const IndexSpace&) = delete;

  int order() const { return int(dims_.size()); }
  const std::vector<Index>& dims() const { return dims_; }
  const std::vector<ModeLabels>& labels() const { return labels_; }
  Unknown unknown() const { return unknown_; }
  bool has_labels(int mode) const { return !labels_[mode].empty(); }
  // Indices of a mode that the model does not have either, though they are within its dims: their lines are
  // left out, if those of unknown indices are. [index]; empty: it has all of them.
  void set_absent(int mode, std::vector<bool> absent) { absent_[std::size_t(mode)] = std::move(absent); }
  bool holds(int mode, Index index) const {
    const auto& absent = absent_[std::size_t(mode)];
    return index >= 0 && index < dims_[std::size_t(mode)] && (absent.empty() || !absent[std::size_t(index)]);
  }
  // Name of the column of a mode: that of its labels, otherwise "mode3".
  std::string name(int mode) const;

  // The index of a label; or one of these.
  static constexpr Index no_index = -1, several = -2;
  Index find(int mode, std::string_view label) const;
  // As find; Unknown::keep gives a label that is not known an index of its own, and remembers it. Threads may
  // call it at the same time: which index a label gets depends on them.
  Index place(int mode, std::string_view label) const;
  // Those of the model and, behind them, those that were remembered.
  std::vector<ModeLabels> all_labels() const;
  // The index that a text names: by its label, or in a mode without labels
  // by a number from 1. Throws Error{bad_option} that uses the noun.
  Index find_named(int mode, std::string_view text, std::string_view noun) const;

 private:
  std::vector<Index> dims_;
  std::vector<ModeLabels> labels_;
  Unknown unknown_;
  std::vector<std::vector<bool>> absent_ = std::vector<std::vector<bool>>(dims_.size());  // [mode][index]
  std::vector<std::unordered_map<std::string_view, Index>> index_of_;  // [mode]; views of labels_
  struct Remembered {
    std::mutex in_use;
    std::vector<std::map<std::string, Index, std::less<>>> index_of;  // [mode]
  };
  std::unique_ptr<Remembered> remembered_;
};

}  // namespace polyad::io
