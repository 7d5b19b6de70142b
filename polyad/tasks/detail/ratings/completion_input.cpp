#include "polyad/tasks/detail/ratings/completion_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/distributed/cp/distribution.hpp"
#include "polyad/distributed/ratings/random_rows.hpp"
#include "polyad/io/hypergraphs/partition_file.hpp"
#include "polyad/io/models/rating_model_file.hpp"
#include "polyad/io/tensors/coordinate_file.hpp"
#include "polyad/tasks/detail/agreement.hpp"
#include "polyad/tasks/detail/find_labels.hpp"
#include "polyad/tasks/detail/partition_cache.hpp"
#include "polyad/tasks/detail/source_files.hpp"
#include "polyad/tasks/detail/values/prepare_values.hpp"

namespace polyad::tasks {
namespace {

// [row now]: the row of the model, -1 where it has none. Empty: all are where they were.
std::vector<Index> rows_of_names(const std::vector<std::string>& now, const std::vector<std::string>& then) {
  if (now == then) return {};
  std::unordered_map<std::string_view, Index> places;
  for (std::size_t i = 0; i < then.size(); ++i) places.emplace(then[i], Index(i));
  std::vector<Index> rows;
  rows.reserve(now.size());
  for (const auto& name : now) {
    const auto place = places.find(name);
    rows.push_back(place == places.end() ? -1 : place->second);
  }
  return rows;
}

// The same for a mode: by names, or by numbers where there are no names.
std::vector<Index> rows_of_model(const ModeLabels& now, const ModeLabels& then, Index num_now, Index num_then,
                                 const std::string& directory) {
  if (now.empty() != then.empty())
    throw Error(Errc::bad_input,
                fmt::format("the {} of the {} have names, those of the {} have none",
                            then.name.empty() ? "rows" : then.name + "s", now.empty() ? "model" : "ratings",
                            now.empty() ? "ratings" : "model"),
                {directory, 0});
  if (!now.empty()) {
    auto rows = rows_of_names(now.labels, then.labels);
    if (!rows.empty() && std::ranges::max(rows) < 0)
      throw Error(Errc::bad_input, fmt::format("none of the {}s of its ratings is among these", then.name),
                  {directory, 0});
    return rows;
  }
  if (num_then > num_now)
    throw Error(Errc::bad_input,
                fmt::format("has {} {}s, more than the ratings have, {}", num_then, then.name, num_now),
                {directory, 0});
  return {};
}

void check_kind(const std::string& directory, Index num_factors, bool has_biases,
                const CompleteOptions& options) {
  if (num_factors != options.factors)
    throw Error(Errc::bad_option,
                fmt::format("{} {}: the model in {} has {} factors; say {} {}", option_name("factors"),
                            options.factors, directory, num_factors, option_name("factors"), num_factors));
  if (has_biases == options.no_bias)
    throw Error(Errc::bad_option,
                fmt::format("the model in {} has {}biases: {} {}", directory, has_biases ? "" : "no ",
                            has_biases ? "leave out" : "add", option_name("no_bias")));
}

RowOwners own_side(const Context& context, const SparseTensor<double>& share, RatingSide side,
                   const CompleteOptions& options, int num_parts) {
  const Comm& comm = context.comm();
  if (options.partition == RatingPartition::file) {
    const auto path = options.partition_file.string();
    const Index count = share.extent(mode_of(side));
    require_same_files(comm, {path});
    io::PartitionLines lines{0, count, count, num_parts};
    lines.thing = to_string(side);
    lines.why_no_more = fmt::format("the run has {} processes", num_parts);
    if (num_parts == 1) lines.why_no_more = "the run has one process";
    return ListedRows{{}, collectively(comm, [&] { return io::read_partition(path, lines); })};
  }
  if (num_parts == 1) return RowBlocks{{0}, {0}};
  if (options.partition == RatingPartition::hypergraph) {
    auto kept = partition_or_reuse(comm, share, options.cache.string(),
                                   completion_partition_options(side, num_parts, options.seed));
    if (!kept.notice.empty()) context.warn(kept.notice);
    return ListedRows{{}, std::move(kept.parts)};
  }
  if (options.partition == RatingPartition::random)
    return random_by_ratings(comm, share, mode_of(side), num_parts, options.seed);
  return Distributor(comm, share, num_parts, options.seed).coarse_block().rows[std::size_t(mode_of(side))];
}

// By process 0.
GivenTest read_test(const Context& context, const TestRatings& test, const Tensor& training) {
  const auto& extents = training.tensor.extents();
  GivenTest result{SparseTensor<double>(extents), 0};
  const io::IndexSpace space(extents, training.labels, io::IndexSpace::Unknown::leave_out);
  auto read = read_options(test.file_options, space);
  const bool has_names = !training.labels[0].empty() || !training.labels[1].empty();
  if (!has_names && !read.index_base) read.index_base = training.index_base;
  const auto path = test.file.string();
  const io::CoordinateFile file(source_files(test.file).files, read);
  if (!file.has_values()) throw Error(Errc::bad_input, "has no ratings to test with", {path, 0});
  for (const auto& note : file.notes()) context.warn(fmt::format("{}: {}", path, note));
  file.for_each_batch([&](const io::CoordinateBatch& batch) {
    for (Index z = 0; z < batch.size(); ++z)
      result.share.append(std::vector{batch.indices[0][z], batch.indices[1][z]}, batch.values[z]);
  });
  result.num_unknown = file.num_unknown();
  const auto options = rating_options(test.file_options);
  if (prepares_values(options)) prepare_local_values(result.share, options, path);
  return result;
}

}  // namespace

void require_ratings(const Tensor& ratings, const RowNeeds& rows) {
  const auto& x = ratings.tensor;
  if (x.order() != 2)
    throw Error(Errc::bad_input,
                fmt::format("has {} modes; ratings have two, users and items ({} picks them from a csv); cpd "
                            "with {} or {} takes any number of modes",
                            x.order(), option_name("columns"), option_name("DecomposeOptions::missing"),
                            option_name("implicit")),
                {ratings.path, 0});
  const auto has = double(memory_to_plan_with());
  const double needs = (double(x.extent(0)) + double(x.extent(1))) * rows.bytes_per_row / rows.processes;
  if (needs > has)
    throw Error(
        Errc::resource,
        fmt::format("has numbers up to {} for users and {} for items, and a row for each takes {}, where "
                    "this machine has {}; if they are ids, read them by {} from a csv, which "
                    "numbers only those that occur",
                    x.extent(0), x.extent(1), with_prefix(needs, "B"), with_prefix(has, "B"),
                    option_name("columns")),
        {ratings.path, 0});
}

GivenTest load_test(const Context& context, const TestRatings& test, const Tensor& training) {
  const Comm& comm = context.comm();
  const auto& extents = training.tensor.extents();
  if (test.kind == TestRatings::Kind::tensor)
    return collectively(comm, [&] {
      if (test.tensor.extents() != extents)
        throw Error(Errc::bad_option,
                    fmt::format("{}: expected a tensor with the dims of the ratings, {} x {}",
                                option_name("test"), extents[0], extents[1]));
      return GivenTest{test.tensor, 0};
    });
  auto given = collectively(comm, [&] {
    if (test.kind != TestRatings::Kind::file || comm.rank() != 0)
      return GivenTest{SparseTensor<double>(extents), 0};
    return read_test(context, test, training);
  });
  given.num_unknown = comm.all_reduce(given.num_unknown);
  return given;
}

SideOwners own_sides(const Context& context, const SparseTensor<double>& share,
                     const CompleteOptions& options, int num_parts) {
  const bool are_compared = num_parts > 1 && options.partition != RatingPartition::file;
  SideOwners owners;
  if (options.by != DistributedSide::items)
    owners.users = own_side(context, share, RatingSide::user, options, num_parts);
  if (options.by == DistributedSide::items || (options.by == DistributedSide::automatic && are_compared))
    owners.items = own_side(context, share, RatingSide::item, options, num_parts);
  return owners;
}

template <class Real>
EarlierTraining<Real> load_earlier(const Comm& comm, const Tensor& training, const CompleteOptions& options) {
  const auto directory = options.resume.string();
  require_same_files(comm, {directory});
  return collectively(comm, [&] {
    auto stored = io::read_rating_model<Real>(directory);
    const auto& model = stored.model;
    check_kind(directory, model.num_factors(), model.has_biases(), options);
    EarlierTraining<Real> earlier;
    earlier.user_rows = rows_of_model(training.labels[0], stored.labels[0], training.tensor.extent(0),
                                      model.num_users(), directory);
    earlier.item_rows = rows_of_model(training.labels[1], stored.labels[1], training.tensor.extent(1),
                                      model.num_items(), directory);
    earlier.model = std::move(stored.model);
    earlier.training = std::move(stored.training);
    return earlier;
  });
}

template EarlierTraining<float> load_earlier(const Comm&, const Tensor&, const CompleteOptions&);
template EarlierTraining<double> load_earlier(const Comm&, const Tensor&, const CompleteOptions&);

}  // namespace polyad::tasks
