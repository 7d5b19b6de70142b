#include "polyad/tensor/generate/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "polyad/base/error.hpp"

namespace polyad {
namespace {

std::string shape_text(const std::vector<Index>& dims) {
  return fmt::format("{}", fmt::join(dims, " x "));
}

bool is_share(double x) {
  return x >= 0 && x <= 1;
}

// A box has a positive length in every mode; it need not be given when nothing is drawn from it.
bool is_box(const std::vector<Index>& box, std::size_t order) {
  return box.size() == order && *std::min_element(box.begin(), box.end()) > 0;
}

void check_boxes(const SkewedOptions& options) {
  const std::size_t order = options.dims.size();
  require_option(options.num_blocks >= 0, "num_blocks", "the number of blocks", "0 or more");
  require_option(options.num_blocks > 0 || options.block_share == 0, "num_blocks", "the number of blocks",
                 "positive when a share of the draws falls into blocks");
  require_option(options.num_blocks == 0 || is_box(options.block_dims, order), "block_dims",
                 "the block dimensions", "one positive number per mode");
  require_option(options.corner_share == 0 || is_box(options.corner_dims, order), "corner_dims",
                 "the corner dimensions", "one positive number per mode");
}

}  // namespace

void require_option(bool holds, const std::string& field, const char* what, const char* expected) {
  if (!holds)
    throw Error(Errc::bad_option, fmt::format("{}{} must be {}", option_name("#" + field), what, expected));
}

void check_generated_shape(const std::vector<Index>& dims, Index num_nonzeros, const ShapeFields& fields) {
  if (int(dims.size()) < min_order || int(dims.size()) > max_order)
    throw Error(Errc::bad_option,
                fmt::format("{}a tensor has {} to {} modes; {} dimensions are given",
                            option_name("#" + fields.dims), min_order, max_order, dims.size()));
  for (const Index dim : dims)
    require_option(dim >= 1 && dim <= max_generated_dim, fields.dims, "each dimension", "between 1 and 2^62");
  require_option(num_nonzeros >= 0, fields.num_nonzeros, "the number of nonzeros", "0 or more");
  Index cells = 1;
  for (const Index dim : dims) {
    if (cells > num_nonzeros / dim) return;  // there are enough cells, and the product might overflow
    cells *= dim;
  }
  if (cells < num_nonzeros)
    throw Error(Errc::bad_option,
                fmt::format("{}{} nonzeros are asked for, but a tensor of {} has only {} coordinates",
                            option_name("#" + fields.num_nonzeros), num_nonzeros, shape_text(dims), cells));
}

void check_options(const SkewedOptions& options) {
  check_generated_shape(options.dims, options.num_nonzeros);
  const int order = int(options.dims.size());
  require_option(options.exponents.empty() || int(options.exponents.size()) == order, "exponents",
                 "the exponents", "one number per mode");
  for (const double s : options.exponents)
    require_option(s >= 0 && std::isfinite(s), "exponents", "each Zipf exponent", "0 or more");
  require_option(options.fiber_mode >= -1 && options.fiber_mode < order, "fiber_mode", "the fiber mode",
                 "a mode of the tensor");
  require_option(options.fiber_mean >= 1 && std::isfinite(options.fiber_mean), "fiber_mean",
                 "the mean fiber length", "1 or more");
  require_option(options.diagonal_distance >= 0 && std::isfinite(options.diagonal_distance),
                 "diagonal_distance", "the distance from the diagonal", "0 or more");
  require_option(
      is_share(options.block_share) && is_share(options.corner_share) && is_share(options.diagonal_share) &&
          options.block_share + options.corner_share + options.diagonal_share <= 1 + 1e-9,
      "block_share", "the shares of blocks, corner and diagonal", "between 0 and 1, also together");
  check_boxes(options);
}

}  // namespace polyad
