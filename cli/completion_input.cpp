#include "cli/completion_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "polyad/base/error.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/distributed/cp/distribution.hpp"
#include "polyad/io/hypergraphs/partition_file.hpp"
#include "polyad/io/models/rating_model_file.hpp"
#include "polyad/io/tensors/coordinate_file.hpp"
#include "polyad/io/text/number_text.hpp"
#include "polyad/tasks/detail/agreement.hpp"
#include "polyad/tasks/detail/find_labels.hpp"
#include "polyad/tasks/detail/partition_cache.hpp"

namespace polyad::cli {
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
                const CompletionOptions& options) {
  if (num_factors != options.num_factors)
    throw Error(Errc::bad_option, fmt::format("--rank {}: the model in {} has {} factors",
                                              options.num_factors, directory, num_factors));
  if (has_biases != options.has_biases)
    throw Error(Errc::bad_option, fmt::format("the model in {} has {}biases: {} --no-bias", directory,
                                              has_biases ? "" : "no ", has_biases ? "leave out" : "add"));
}

RowOwners own_side(const Comm& comm, const SparseTensor<double>& share, RatingSide side,
                   const DealOptions& options, const Console& console) {
  const auto& partition = options.partition;
  const Index count = share.extent(mode_of(side));
  tasks::require_same_files(comm, {partition_file_of(partition)});
  if (!partition_file_of(partition).empty())
    return ListedRows{{}, collectively(comm, [&] {
                        return io::read_partition(partition, {0, count, count, comm.size()});
                      })};
  if (comm.size() == 1) return RowBlocks{{0}, {0}};
  if (partition == "hypergraph") {
    auto kept = tasks::partition_or_reuse(
        comm, share, options.cache, tasks::completion_partition_options(side, comm.size(), options.seed));
    if (!kept.notice.empty()) console.warn(kept.notice);
    return ListedRows{{}, std::move(kept.parts)};
  }
  const Distributor distributor(comm, share, comm.size(), options.seed);
  const auto dealt = partition == "block" ? distributor.coarse_block() : distributor.coarse_random();
  return dealt.rows[std::size_t(mode_of(side))];
}

}  // namespace

TestSource parse_test(const std::string& text, std::uint64_t seed) {
  TestSource source;
  source.split.seed = seed;
  if (text.empty()) return source;
  if (text == "leave-one-out") {
    source.split.kind = RatingSplit::Kind::leave_one_out;
  } else if (const auto share = io::parse_real(text)) {
    if (!(*share > 0 && *share < 1))
      throw Error(Errc::bad_option,
                  fmt::format("--test {}: expected a share between 0 and 1, as in 0.1", text));
    source.split.kind = RatingSplit::Kind::fraction;
    source.split.fraction = *share;
  } else {
    source.file = text;
  }
  return source;
}

TestRatings load_test(const Comm& comm, const std::string& path, InputOptions options,
                      const io::LoadedTensor& training, const Console& console) {
  const auto extents = training.tensor.extents();
  options.path = path;
  options.labels.clear();
  auto test = collectively(comm, [&] {
    TestRatings result{SparseTensor<double>(extents), 0};
    if (comm.rank() != 0) return result;
    const io::IndexSpace space(extents, training.labels, io::IndexSpace::Unknown::leave_out);
    auto read = tasks::read_options(load_options(options), space);
    const bool has_names = !training.labels[0].empty() || !training.labels[1].empty();
    if (!has_names && !read.index_base) read.index_base = training.index_base;
    const io::CoordinateFile file(path, read);
    if (!file.has_values()) throw Error(Errc::bad_input, "has no ratings to test with", {path, 0});
    for (const auto& note : file.notes()) console.warn(fmt::format("{}: {}", path, note));
    file.for_each_batch([&](const io::CoordinateBatch& batch) {
      for (Index z = 0; z < batch.size(); ++z)
        result.share.append(std::vector{batch.indices[0][z], batch.indices[1][z]}, batch.values[z]);
    });
    result.num_unknown = file.num_unknown();
    return result;
  });
  test.num_unknown = comm.all_reduce(test.num_unknown);
  return test;
}

std::string partition_file_of(const std::string& partition) {
  return partition == "random" || partition == "block" || partition == "hypergraph" ? "" : partition;
}

SideOwners own_sides(const Comm& comm, const SparseTensor<double>& share, const DealOptions& options,
                     const Console& console) {
  const bool are_weighed = comm.size() > 1 && partition_file_of(options.partition).empty();
  SideOwners owners;
  if (options.by != "items") owners.users = own_side(comm, share, RatingSide::user, options, console);
  if (options.by == "items" || (options.by == "auto" && are_weighed))
    owners.items = own_side(comm, share, RatingSide::item, options, console);
  return owners;
}

template <class Real>
EarlierTraining<Real> load_earlier(const Comm& comm, const std::string& directory,
                                   const io::LoadedTensor& training, const CompletionOptions& options) {
  tasks::require_same_files(comm, {directory});
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

template EarlierTraining<float> load_earlier(const Comm&, const std::string&, const io::LoadedTensor&,
                                             const CompletionOptions&);
template EarlierTraining<double> load_earlier(const Comm&, const std::string&, const io::LoadedTensor&,
                                              const CompletionOptions&);

}  // namespace polyad::cli
