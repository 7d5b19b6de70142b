#include "polyad/tasks/detail/previous_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "polyad/hypergraph/previous_partition.hpp"
#include "polyad/io/hypergraphs/partition_file.hpp"

namespace polyad::tasks {

namespace {

std::string why_no_more_parts(const PartitionOptions& options) {
  return fmt::format("{} is {}", option_name("parts"), options.parts);
}

}  // namespace

std::vector<int> previous_parts(const PartitionOptions& options, Index num_things, const std::string& thing) {
  if (options.previous_file.empty()) return {};
  auto lines = io::up_to(num_things, options.parts);
  lines.thing = thing;
  lines.why_no_more = why_no_more_parts(options);
  auto parts = io::read_partition(options.previous_file, lines);
  parts.resize(std::size_t(num_things), hypergraph::new_vertex);
  return parts;
}

std::vector<int> previous_slices(const PartitionOptions& options, const std::vector<Index>& dims) {
  if (options.previous_file.empty()) return {};
  const auto& before = options.previous_dims.empty() ? dims : options.previous_dims;
  if (before.size() != dims.size() || !std::ranges::equal(before, dims, std::less_equal{}))
    throw Error(Errc::bad_option,
                fmt::format("{} {}: the tensor is {}, which did not grow from that",
                            option_name("previous_dims"), fmt::join(before, "x"), fmt::join(dims, "x")));
  const auto parts = io::read_partition(options.previous_file, options.parts, why_no_more_parts(options));
  const Index expected = std::accumulate(before.begin(), before.end(), Index(0));
  if (std::ssize(parts) != expected)
    throw Error(
        Errc::bad_input,
        fmt::format("has {} lines; expected {} for the slices of {}; if the tensor has grown, give its "
                    "previous dimensions with {}",
                    parts.size(), expected, fmt::join(before, "x"), option_name("previous_dims")),
        {options.previous_file.string(), 0});
  return hypergraph::parts_of_grown_modes(parts, before, dims);
}

}  // namespace polyad::tasks
