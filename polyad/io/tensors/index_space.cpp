#include "polyad/io/tensors/index_space.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "polyad/base/error.hpp"
#include "polyad/base/suggestion.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {

IndexSpace::IndexSpace(std::vector<Index> dims, std::vector<ModeLabels> labels, Unknown unknown)
    : dims_(std::move(dims)), labels_(std::move(labels)), unknown_(unknown), index_of_(dims_.size()) {
  labels_.resize(dims_.size());
  remembered_ = std::make_unique<Remembered>();
  remembered_->index_of.resize(dims_.size());
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

Index IndexSpace::place(int mode, std::string_view label) const {
  const Index known = find(mode, label);
  if (known != no_index || unknown_ != Unknown::keep) return known;
  const std::lock_guard lock(remembered_->in_use);
  auto& index_of = remembered_->index_of[std::size_t(mode)];
  const auto found = index_of.find(label);
  if (found != index_of.end()) return found->second;
  return index_of.emplace(label, dims_[mode] + std::ssize(index_of)).first->second;
}

std::vector<ModeLabels> IndexSpace::all_labels() const {
  auto all = labels_;
  for (std::size_t m = 0; m < all.size(); ++m) {
    const auto& more = remembered_->index_of[m];
    if (more.empty()) continue;
    auto& names = all[m].labels;
    names.resize(std::size_t(dims_[m]) + more.size());
    for (const auto& [name, index] : more) names[std::size_t(index)] = name;
  }
  return all;
}

Index IndexSpace::find_named(int mode, std::string_view text, std::string_view noun) const {
  const auto refuse = [&](const std::string& why) {
    throw Error(Errc::bad_option, fmt::format("{} {}", in_quotes(text), why));
  };
  if (has_labels(mode)) {
    const Index index = find(mode, text);
    if (index == no_index) {
      const auto& names = labels_[mode].labels;
      const auto near = suggestion(std::string(text), names);
      refuse(fmt::format(
          "is no {} of the model{}", noun,
          near.empty() && !names.empty()
              ? fmt::format(", which knows each {} by a name, such as {}", noun, in_quotes(names.front()))
              : near));
    }
    if (index == several) refuse(fmt::format("names more than one {} of the model", noun));
    return index;
  }
  const auto number = parse_index(text);
  if (!number || *number < 1 || *number > dims_[mode])
    refuse(fmt::format("is no {} of the model: expected a number from 1 to {}", noun, dims_[mode]));
  return *number - 1;
}

}  // namespace polyad::io
