#include "polyad/tensor/value_rules.hpp"

#include <array>
#include <cmath>

namespace polyad {
namespace {

constexpr std::array duplicate_rules{Duplicates::sum,  Duplicates::mean,  Duplicates::max,
                                     Duplicates::last, Duplicates::count, Duplicates::refuse};
constexpr std::array duplicate_names{"sum", "mean", "max", "last", "count", "refuse"};
constexpr std::array transforms{Transform::none, Transform::log1p, Transform::sqrt, Transform::binary};
constexpr std::array transform_names{"none", "log1p", "sqrt", "binary"};

}  // namespace

std::string to_string(Duplicates rule) {
  return duplicate_names.at(std::size_t(rule));
}

std::span<const Duplicates> all_duplicate_rules() {
  return duplicate_rules;
}

std::string to_string(Transform transform) {
  return transform_names.at(std::size_t(transform));
}

std::span<const Transform> all_transforms() {
  return transforms;
}

double transformed(double value, Transform transform) {
  switch (transform) {
    case Transform::log1p:
      return std::log1p(value);
    case Transform::sqrt:
      return std::sqrt(value);
    case Transform::binary:
      return value != 0 ? 1 : 0;
    case Transform::none:
      break;
  }
  return value;
}

double CellValue::combined(Duplicates rule) const {
  switch (rule) {
    case Duplicates::sum:
      return sum_;
    case Duplicates::mean:
      return sum_ / double(count_);
    case Duplicates::max:
      return max_;
    case Duplicates::count:
      return double(count_);
    case Duplicates::last:
    case Duplicates::refuse:
      break;
  }
  return last_;
}

}  // namespace polyad
