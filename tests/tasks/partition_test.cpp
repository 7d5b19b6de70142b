#include "polyad/tasks/partition.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "polyad/hypergraph/partition_tensor.hpp"
#include "polyad/hypergraph/previous_partition.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

Tensor some_tensor(std::uint64_t seed, Index num_nonzeros = 2000) {
  return make_tensor(test::tame_tensor({60, 50, 40}, num_nonzeros, seed));
}

hypergraph::TensorPartitionOptions lower_options(PartitionModel model, int num_parts) {
  hypergraph::TensorPartitionOptions options;
  options.model = model;
  options.hypergraph.num_parts = num_parts;
  return options;
}

// Over all slices of all modes: the parts that have nonzeros of it, less one.
Index connectivity_of_nonzeros(const SparseTensor<double>& x, const std::vector<int>& parts) {
  Index sum = 0;
  for (int m = 0; m < x.order(); ++m) {
    std::map<Index, std::set<int>> touching;
    for (Index z = 0; z < x.num_nonzeros(); ++z) touching[x.indices(m)[z]].insert(parts[std::size_t(z)]);
    for (const auto& [slice, of_slice] : touching) sum += std::ssize(of_slice) - 1;
  }
  return sum;
}

TEST(Partition, measures_the_parts_that_it_returns) {
  const test::TemporaryFolder folder;
  const auto context = Context::serial();
  for (const auto method : {PartitionMethod::hypergraph, PartitionMethod::bisection, PartitionMethod::block,
                            PartitionMethod::random}) {
    const auto x = some_tensor(3);
    const auto parts = partition(context, x, {.parts = 7, .method = method, .no_cache = true});
    ASSERT_EQ(std::ssize(parts.parts()), x.tensor.num_nonzeros());
    EXPECT_EQ(parts.num_parts(), 7);
    for (const int part : parts.parts()) EXPECT_TRUE(part >= 0 && part < 7);
    EXPECT_EQ(parts.metrics().connectivity, connectivity_of_nonzeros(x.tensor, parts.parts()));
    EXPECT_FALSE(parts.was_cached() || parts.was_cut_short());
  }
}

TEST(Partition, equals_that_of_the_partitioner) {
  const test::TemporaryFolder folder;
  const auto context = Context::serial();
  for (const auto model : {PartitionModel::fine, PartitionModel::coarse}) {
    const auto x = some_tensor(5);
    const auto expected = hypergraph::partition_tensor(x.tensor, lower_options(model, 4));
    const auto parts = partition(context, x, {.parts = 4, .model = model, .no_cache = true});
    EXPECT_EQ(parts.parts(), expected.parts);
    EXPECT_EQ(parts.num_vertices(), expected.num_vertices);
    EXPECT_EQ(parts.num_nets(), expected.num_nets);
    EXPECT_EQ(parts.num_pins(), expected.num_pins);
    const auto json = nlohmann::json::parse(parts.json());
    EXPECT_EQ(json["connectivity"], expected.metrics.connectivity);
    EXPECT_EQ(json["model"], to_string(model));
    EXPECT_TRUE(parts.summary().starts_with("4 parts, " + to_string(model) + ", by hypergraph\n"));
  }
}

TEST(Partition, partitions_rows_and_columns_of_a_matrix) {
  const auto x = make_tensor(test::tame_tensor({90, 30}, 500, 2));
  const auto context = Context::serial();
  EXPECT_EQ(partition(context, x, {.model = PartitionModel::row, .no_cache = true}).parts().size(), 90);
  EXPECT_EQ(partition(context, x, {.model = PartitionModel::column, .no_cache = true}).parts().size(), 30);
}

TEST(Partition, of_nonzeros_with_rows_has_owners_of_rows) {
  const test::TemporaryFolder folder;
  const auto context = Context::serial();
  const auto x = some_tensor(6);
  const PartitionOptions options{
      .parts = 4, .model = PartitionModel::fine_with_rows, .cache = folder / "cache"};
  const auto made = partition(context, x, options), found = partition(context, x, options);
  EXPECT_EQ(std::ssize(made.parts()), x.tensor.num_nonzeros());
  EXPECT_EQ(made.row_owners().size(), 60 + 50 + 40);
  EXPECT_TRUE(found.was_cached());
  EXPECT_EQ(std::tuple(found.parts(), found.row_owners()), std::tuple(made.parts(), made.row_owners()));
  EXPECT_EQ(made.metrics().imbalance.size(), 4);
  save_row_owners(context, made, folder / "rows.part");
  auto both = made.parts();
  both.insert(both.end(), made.row_owners().begin(), made.row_owners().end());
  EXPECT_EQ(hypergraph::partition_tensor(x.tensor, lower_options(PartitionModel::fine_with_rows, 4)).parts,
            both);
  const auto fine = partition(context, x, {.parts = 4, .no_cache = true});
  EXPECT_TRUE(fine.row_owners().empty());
  EXPECT_THROW(save_row_owners(context, fine, folder / "none.part"), Error);
}

TEST(Partition, is_found_in_the_cache_again) {
  const test::TemporaryFolder folder;
  const auto context = Context::serial();
  const auto x = some_tensor(7);
  const PartitionOptions options{.parts = 3, .cache = folder / "cache"};
  const auto made = partition(context, x, options), found = partition(context, x, options);
  EXPECT_FALSE(made.was_cached());
  EXPECT_TRUE(found.was_cached());
  EXPECT_EQ(found.parts(), made.parts());
  EXPECT_EQ(found.metrics().connectivity, made.metrics().connectivity);
  EXPECT_FALSE(partition(context, some_tensor(8), options).was_cached());
}

TEST(Partition, of_the_hypergraph_in_a_file_is_that_of_the_hypergraph) {
  const test::TemporaryFolder folder;
  const auto context = Context::serial();
  const PartitionOptions options{.parts = 5, .seed = 4};
  const auto h = model_hypergraph(some_tensor(9), options);
  EXPECT_TRUE(is_hypergraph_file(folder / "x.hgr.gz"));
  EXPECT_FALSE(is_hypergraph_file(folder / "x.tns"));
  save(context, h, folder / "x.hgr");
  const auto loaded = load_hypergraph(context, folder / "x.hgr");
  EXPECT_EQ(loaded.hypergraph, h);
  const auto parts = partition(context, loaded, options);
  EXPECT_EQ(parts.parts(), partition(context, h, options).parts());
  EXPECT_EQ(parts.metrics().connectivity, hypergraph::measure_partition(h, parts.parts(), 5).connectivity);
  EXPECT_EQ(nlohmann::json::parse(parts.json())["model"], "hypergraph");
}

TEST(Partition, goes_on_from_a_previous_one) {
  const test::TemporaryFolder folder;
  const auto context = Context::serial();
  const auto small = some_tensor(11, 1500);
  const auto before = partition(context, small, {.parts = 4, .no_cache = true});
  save(context, before, folder / "before.part");
  EXPECT_THROW(save(context, before, folder / "before.part", Existing::refused), Error);

  auto grown = small;
  for (Index i = 0; i < 40; ++i) grown.tensor.append(std::vector<Index>{i % 60, (3 * i) % 50, i}, 1);
  auto lower = lower_options(PartitionModel::fine, 4);
  lower.hypergraph.previous = before.parts();
  lower.hypergraph.previous.resize(std::size_t(grown.tensor.num_nonzeros()), hypergraph::new_vertex);
  const auto after =
      partition(context, grown, {.parts = 4, .previous_file = folder / "before.part", .no_cache = true});
  EXPECT_EQ(after.parts(), hypergraph::partition_tensor(grown.tensor, lower).parts);
}

// [option at fault, sentence]
using FaultyOption = std::pair<std::string, std::string>;

FaultyOption fault_of(const Tensor& x, const PartitionOptions& options) {
  try {
    partition(Context::serial(), x, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_option);
    return {error.option(), error.what()};
  }
  return {};
}

TEST(Partition, names_the_option_at_fault) {
  const auto x = some_tensor(1, 50);
  EXPECT_EQ(fault_of(x, {.parts = 0}), FaultyOption("parts", "parts 0: expected a number from 1 to 65535"));
  EXPECT_EQ(fault_of(x, {.rho = 0.5}), FaultyOption("rho", "rho 0.5: expected a number from 1 to 8"));
  EXPECT_EQ(fault_of(x, {.imbalance = -1}),
            FaultyOption("imbalance", "imbalance -1: expected a number from 0 to 100"));
  EXPECT_EQ(fault_of(x, {.time_limit_seconds = -1}),
            FaultyOption("time_limit_seconds",
                         "time_limit_seconds -1: expected a number of seconds, or 0 for no limit"));
  EXPECT_EQ(fault_of(x, {.method = PartitionMethod::block, .seed = 2}),
            FaultyOption("seed", "seed has no effect with method block, which is not random"));
  EXPECT_EQ(fault_of(x, {.method = PartitionMethod::random, .imbalance = 0.1}),
            FaultyOption("imbalance", "imbalance requires a method that searches, not random"));
  EXPECT_EQ(fault_of(x, {.slice_weights = SliceWeights::together}),
            FaultyOption("slice_weights", "slice_weights requires model coarse"));
  EXPECT_EQ(
      fault_of(x, {.model = PartitionModel::fine_with_rows, .previous_file = "x"}),
      FaultyOption("previous_file",
                   "previous_file has parts of one kind; model fine-with-rows has those of nonzeros and "
                   "of rows"));
  EXPECT_EQ(fault_of(x, {.previous_dims = {3, 4, 5}}),
            FaultyOption("previous_dims", "previous_dims requires previous_file and model coarse"));
  EXPECT_EQ(
      fault_of(x, {.cache = "x", .no_cache = true}),
      FaultyOption("cache", "cache requires a method that searches and cannot be combined with no_cache"));
  EXPECT_EQ(fault_of(make_tensor(SparseTensor<double>({3, 4, 5})), {.parts = 2, .no_cache = true}),
            FaultyOption("parts", "parts 2: there are only 0 nonzeros, and no part may be empty"));
}

TEST(Partition, of_a_hypergraph_has_no_slices_and_no_cache) {
  const auto h = model_hypergraph(some_tensor(1, 50), {});
  try {
    partition(Context::serial(), h, {.no_cache = true});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "no_cache applies to tensors; the input is a hypergraph");
  }
}

}  // namespace
}  // namespace polyad
