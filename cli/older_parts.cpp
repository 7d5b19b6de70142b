#include "cli/older_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "cli/input.hpp"
#include "polyad/base/error.hpp"
#include "polyad/hypergraph/previous_partition.hpp"
#include "polyad/io/hypergraphs/partition_file.hpp"

namespace polyad::cli {

std::vector<int> read_older_parts(const PreviousPartition& older, Index num_things, int num_parts) {
  if (older.path.empty()) return {};
  auto parts = io::read_partition(older.path, io::up_to(num_things, num_parts));
  parts.resize(std::size_t(num_things), new_vertex);
  return parts;
}

std::vector<int> read_older_slices(const PreviousPartition& older, std::span<const Index> extents,
                                   int num_parts) {
  if (older.path.empty()) return {};
  const auto dims = older.dims.empty() ? std::vector<Index>(extents.begin(), extents.end())
                                       : parse_dims(older.dims, "--refine-dims");
  if (dims.size() != extents.size() || !std::ranges::equal(dims, extents, std::less_equal{}))
    throw Error(Errc::bad_option,
                fmt::format("--refine-dims {}: the tensor is {}, which did not grow from that", older.dims,
                            fmt::join(extents, "x")));
  const auto parts = io::read_partition(older.path, num_parts);
  const Index expected = std::accumulate(dims.begin(), dims.end(), Index(0));
  if (std::ssize(parts) != expected)
    throw Error(Errc::bad_input,
                fmt::format("has {} lines; expected {} for the slices of {}; if the tensor has grown, say by "
                            "--refine-dims what it was",
                            parts.size(), expected, fmt::join(dims, "x")),
                {older.path, 0});
  return parts_of_grown_modes(parts, dims, extents);
}

}  // namespace polyad::cli
