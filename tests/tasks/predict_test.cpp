#include "polyad/tasks/predict.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "polyad/io/models/kruskal.hpp"
#include "polyad/kernels/analysis/kruskal_values.hpp"
#include "polyad/tasks/decompose.hpp"
#include "polyad/tasks/load.hpp"
#include "polyad/tasks/load_model.hpp"
#include "polyad/tasks/save.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/kruskal_samples.hpp"
#include "tests/support/shares.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

// A path that process 0 chose, on all.
std::filesystem::path agreed(const Comm& comm, const std::filesystem::path& path) {
  const auto text = path.string();
  std::vector<char> name(text.begin(), text.end());
  comm.broadcast(name, 0);
  return std::string(name.begin(), name.end());
}

CpModel decomposed(const Context& context, const SparseTensor<double>& x, Index rank) {
  return decompose(context, make_tensor(test::share_of(x, context.comm())),
                   {.rank = rank, .max_iterations = 5, .tolerance = 0});
}

Kruskal<double> whole(const CpModel& model) {
  Kruskal<double> k;
  k.weights = model.weights();
  for (int m = 0; m < model.order(); ++m) k.factors.push_back(model.factor(m));
  return k;
}

TEST(LoadModel, ReturnsWhatWasSaved) {
  const Context context(Comm::world());
  const auto x = test::tame_tensor({20, 15, 10}, 300, 7);
  const auto model = decomposed(context, x, 4);
  const auto factors = whole(model);
  const test::TemporaryFolder folder;  // that of process 0 is used
  for (const char* name : {"m", "m.ktensor", "m.npz"}) {
    const auto path = agreed(context.comm(), folder / name);
    save(context, model, path);
    const auto loaded = load_model(context, path);
    EXPECT_EQ(loaded.dims(), model.dims());
    EXPECT_EQ(loaded.rank(), 4);
    EXPECT_TRUE(test::same_bits(whole(loaded), factors)) << name;
    EXPECT_EQ(loaded.component_table(3), model.component_table(3)) << name;
    EXPECT_EQ(loaded.component_cards(3), model.component_cards(3)) << name;
    const bool has_record = std::string(name) == "m";
    EXPECT_EQ(std::isnan(loaded.fit()), !has_record);
    if (has_record) {
      EXPECT_EQ(loaded.fit(), model.fit());
      EXPECT_EQ(loaded.fits(), model.fits());
      EXPECT_EQ(loaded.stop_reason(), StopReason::iteration_limit);
    }
    const auto again = agreed(context.comm(), folder / (std::string("again-") + name));
    save(context, loaded, again);
    EXPECT_TRUE(test::same_bits(whole(load_model(context, again)), factors)) << name;
    EXPECT_EQ(load_model(context, again).json(), loaded.json());
    EXPECT_THROW(save_report(context, loaded, agreed(context.comm(), folder / "x.html")), Error);
  }
  context.comm().barrier();  // before the folder goes
}

TEST(LoadModel, KnowsARunThatTheErrorOfHeldOutCellsEnded) {
  const auto context = Context::serial();
  const test::TemporaryFolder folder;
  DecomposeOptions options;
  options.rank = 8;
  options.missing = MissingOptions{.test_fraction = 0.2, .patience = 1};
  const auto model = decompose(context, make_tensor(test::tame_tensor({20, 15, 10}, 300, 7)), options);
  EXPECT_EQ(model.stop_reason(), StopReason::test_error);
  save(context, model, folder / "m");
  EXPECT_EQ(load_model(context, folder / "m").stop_reason(), StopReason::test_error);
}

TEST(LoadModel, ReadsLabelsAndPassesOverADamagedRecord) {
  const auto context = Context::serial();
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "m");
  folder.write("m/lambda.mat", "2\n");
  folder.write("m/mode1.mat", "1\n2\n");
  folder.write("m/mode2.mat", "1\n2\n3\n");
  folder.write("m/mode-1-who.map", "ann\nbob\n");
  for (const char* record : {"", "{", "[1]", "{\"fit\": \"good\", \"fit_trajectory\": 3, \"stop\": 4}"}) {
    folder.write("m/summary.json", record);
    const auto model = load_model(context, folder / "m");
    EXPECT_TRUE(std::isnan(model.fit())) << record;
    EXPECT_EQ(model.labels()[0].name, "who");
    EXPECT_EQ(model.labels()[0].labels, (std::vector<std::string>{"ann", "bob"}));
  }
  folder.write("m/summary.json", "{\"fit\": 0.5}");
  EXPECT_EQ(load_model(context, folder / "m").fit(), 0.5);
  EXPECT_TRUE(load_model(context, folder / "m", {.none = true}).labels()[0].empty());
  EXPECT_THROW(load_model(context, folder / "there-is-none"), Error);
}

TEST(Predict, EvaluatesAModelAtTheShareOfEachProcess) {
  const Context context(Comm::world());
  const auto x = test::tame_tensor({20, 15, 10}, 300, 7);
  const auto model = decomposed(context, x, 4);
  const auto share = test::share_of(x, context.comm());
  const auto values = predict(context, model, make_tensor(share));
  const auto k = whole(model);
  ASSERT_EQ(Index(values.size()), share.num_nonzeros());
  for (Index z = 0; z < share.num_nonzeros(); ++z) {
    const std::vector<Index> at{share.indices(0)[z], share.indices(1)[z], share.indices(2)[z]};
    EXPECT_NEAR(values[z], kernels::ref::entry(k, at), 1e-12);
  }
  EXPECT_TRUE(predict(context, model, make_tensor(SparseTensor<double>({20, 15, 10}))).empty());
  EXPECT_THROW(predict(context, model, make_tensor(SparseTensor<double>({20, 16, 10}))), Error);
  EXPECT_THROW(predict(context, model, make_tensor(SparseTensor<double>({20, 15}))), Error);
}

// 2 x 3, one component, entry (i, j) = 2 i j with i and j from 1.
CpModel tiny_model(const Context& context, const test::TemporaryFolder& folder) {
  Kruskal<double> k{{2}, {test::matrix(2, {1, 2}), test::matrix(3, {1, 2, 3})}};
  io::write_kruskal(folder / "m.ktensor", k, io::KruskalFormat::ktensor);
  return load_model(context, folder / "m.ktensor");
}

TEST(Predict, WritesATableAndComparesWithValues) {
  const auto context = Context::serial();
  const test::TemporaryFolder folder;
  const auto model = tiny_model(context, folder);
  const auto places = folder.write("x.tns", "1 2 5\n2 3 12\n");
  const auto result = predict(context, model, places, {.out = folder / "y.csv"});
  EXPECT_EQ(test::contents(folder / "y.csv"),
            "mode1,mode2,prediction,value,residual\n1,2,4,5,1\n2,3,12,12,0\n");
  EXPECT_EQ(result.count(), 2);
  ASSERT_TRUE(result.errors());
  EXPECT_NEAR(result.errors()->rmse, std::sqrt(0.5), 1e-15);
  EXPECT_EQ(result.errors()->mae, 0.5);
  EXPECT_NEAR(*result.errors()->relative, 1.0 / 13, 1e-15);
  EXPECT_EQ(result.errors()->largest[0].coordinate, (std::vector<Index>{0, 1}));
  const auto json = nlohmann::json::parse(result.json());
  EXPECT_EQ(json["count"], 2);
  EXPECT_EQ(json["out"], (folder / "y.csv").string());

  std::string text;
  const auto written =
      predict(context, model, folder.write("z.tns", "1 1\n"),
              {.contributions = true, .write_table = [&](std::string_view t) { text += t; }});
  EXPECT_EQ(text, "mode1\tmode2\tprediction\tcomponent1\n1\t1\t2\t2\n");
  EXPECT_FALSE(written.errors());
}

TEST(Predict, RefusesOrCountsUnknownCoordinates) {
  const auto context = Context::serial();
  const test::TemporaryFolder folder;
  const auto model = tiny_model(context, folder);
  const auto places = folder.write("x.tns", "1 2\n3 1\n");
  EXPECT_THROW(predict(context, model, places), Error);
  const auto result = predict(context, model, places, {.skip_unknown = true});
  EXPECT_EQ(result.count(), 1);
  EXPECT_EQ(result.num_unknown(), 1);
}

std::pair<std::string, std::string> fault_of(const PredictOptions& options) {
  try {
    validate(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_option);
    return {error.option(), error.what()};
  }
  return {};
}

TEST(Predict, NamesTheOptionAtFault) {
  using Fault = std::pair<std::string, std::string>;
  EXPECT_EQ(fault_of({.out = "y.txt"}),
            Fault("out", "out y.txt: expected a name that ends in .tsv or .csv, or in .tsv.gz or .csv.gz"));
  EXPECT_EQ(fault_of({.contributions = true}),
            Fault("contributions", "contributions are columns of the table: out says where it is written"));
  EXPECT_EQ(fault_of({.num_largest = -1}), Fault("num_largest", "num_largest -1: expected 0 or more"));
}

}  // namespace
}  // namespace polyad
