#include "polyad/io/index_space.hpp"

#include <algorithm>

namespace polyad::io {

IndexSpace::IndexSpace(std::vector<Index> dims, std::vector<ModeLabels> labels, Unknown unknown)
    : dims_(std::move(dims)), labels_(std::move(labels)), unknown_(unknown), index_of_(dims_.size()) {
  labels_.resize(dims_.size());
  for (std::size_t m = 0; m < dims_.size(); ++m) {
    const auto& names = labels_[m].labels;
    const Index count = std::min(Index(names.size()), dims_[m]);
    index_of_[m].reserve(std::size_t(count));
    for (Index i = 0; i < count; ++i) {
      const auto [place, is_new] = index_of_[m].emplace(names[i], i);
      if (!is_new) place->second = several;
    }
  }
}

std::string IndexSpace::name(int mode) const {
  return labels_[mode].name.empty() ? "mode" + std::to_string(mode + 1) : labels_[mode].name;
}

Index IndexSpace::find(int mode, std::string_view label) const {
  const auto found = index_of_[mode].find(label);
  return found == index_of_[mode].end() ? no_index : found->second;
}

}  // namespace polyad::io
