#include "polyad/tasks/contract.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/support/naive_contraction.hpp"
#include "tests/support/shared_folder.hpp"

namespace polyad {
namespace {

using test::WholeArray;

// Letters for labels.
std::string indices_of(const kernels::LabelledShape& shape) {
  std::string text;
  for (const int label : shape.labels) text += char('a' + label);
  return text;
}

std::string einsum(const test::Contraction& c) {
  return indices_of(c.a) + "," + indices_of(c.b) + "->" + indices_of(c.c);
}

// Where an element stands in an array with the first mode fastest.
std::size_t offset_of(std::span<const Index> index, const std::vector<Index>& extents) {
  Index offset = 0;
  for (std::size_t m = extents.size(); m-- > 0;) offset = offset * extents[m] + index[m];
  return std::size_t(offset);
}

DenseTensor<double> distributed(const Context& context, const WholeArray& x, std::vector<int> grid = {}) {
  auto tensor = make_dense(context, x.shape.extents, std::move(grid));
  fill(tensor, [&](std::span<const Index> index) { return x.elements[offset_of(index, x.shape.extents)]; });
  return tensor;
}

// The elements of an array with the last mode fastest.
std::vector<double> in_c_order(const WholeArray& x) {
  std::vector<double> elements;
  std::vector<dense::CyclicRange> reversed;
  for (auto extent = x.shape.extents.rbegin(); extent != x.shape.extents.rend(); ++extent)
    reversed.push_back({0, 1, *extent});
  if (x.elements.empty()) return elements;
  dense::for_each_element(reversed, [&](std::span<const Index> index, Index) {
    const std::vector<Index> forward(index.rbegin(), index.rend());
    elements.push_back(x.elements[offset_of(forward, x.shape.extents)]);
  });
  return elements;
}

void expect_elements(const Array<double>& found, const std::vector<double>& expected,
                     const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(found[i], expected[i]) << what << " at " << i;
}

struct Case {
  explicit Case(std::uint64_t seed)
      : shapes(test::random_contraction(seed, 5, 5)),
        a(test::whole_array(shapes.a, seed, 1)),
        b(test::whole_array(shapes.b, seed, 2)),
        c{shapes.c, {}} {
    Index size = 1;
    for (const Index extent : shapes.c.extents) size *= extent;
    c.elements.assign(std::size_t(size), 0);
    test::naive_contract(c, a, b);
  }
  test::Contraction shapes;
  WholeArray a, b, c;
};

TEST(Contract, EqualsTheDefinitionOnEveryGrid) {
  const Context context(Comm::world());
  const int processes = context.comm().size();
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    Case x(seed);
    const auto expression = einsum(x.shapes);
    const auto expected = in_c_order(x.c);
    const auto a = distributed(context, x.a), b = distributed(context, x.b);
    const auto on_line = distributed(context, x.b, {processes});
    for (const auto stationary :
         {StationaryTensor::automatic, StationaryTensor::a, StationaryTensor::b, StationaryTensor::c}) {
      const auto c = contract(context, expression, a, b, {.stationary = stationary});
      expect_elements(gather(context, c.tensor), expected, expression);
      EXPECT_EQ(c.report.dims(), x.shapes.c.extents);
    }
    // Inputs on different grids, and a grid that neither has.
    expect_elements(gather(context, contract(context, expression, a, on_line).tensor), expected, expression);
    const auto moved = contract(context, expression, a, on_line, {.grid = {1, processes, 1}});
    EXPECT_EQ(moved.tensor.layout().grid.dims(), (std::vector<int>{1, processes, 1}));
    expect_elements(gather(context, moved.tensor), expected, expression);
  }
}

TEST(Contract, TakesFormulasAndDiagonals) {
  const Context context(Comm::world());
  auto a = make_dense(context, {4, 4, 3});
  auto b = make_dense(context, {3, 5, 5});
  const auto value = [](std::span<const Index> i) { return double(i[0] * 7 + i[1] * 3 - i[2] * 2); };
  fill(a, value);
  fill(b, value);
  const auto c = contract(context, "C[ij] = A[iik] * B[kjj]", a, b);
  EXPECT_EQ(c.report.expression(), "C[ij] += A[iik] * B[kjj]");
  ASSERT_EQ(c.report.dims(), (std::vector<Index>{4, 5}));
  const auto elements = gather(context, c.tensor);
  double squares = 0;
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 5; ++j) {
      double sum = 0;
      for (Index k = 0; k < 3; ++k) sum += double(10 * i - 2 * k) * double(7 * k + j);
      EXPECT_EQ(elements[std::size_t(i * 5 + j)], sum);
      squares += sum * sum;
    }
  EXPECT_NEAR(c.report.norm(), std::sqrt(squares), 1e-9 * std::sqrt(squares));

  // A trace: no mode is left to distribute.
  auto square = make_dense(context, {6, 6}), one = make_dense(context, {});
  fill(square, [](std::span<const Index> i) { return double(i[0] * 10 + i[1]); });
  fill(one, [](std::span<const Index>) { return 2.0; });
  EXPECT_EQ(gather(context, contract(context, "ii,->", square, one).tensor)[0], 2.0 * 165);
  EXPECT_THROW(contract(context, "ii,->", make_dense(context, {2, 3}), one), Error);
}

TEST(Contract, WorksInSinglePrecisionAndWithoutElements) {
  const Context context(Comm::world());
  auto a = make_dense<float>(context, {3, 0}), b = make_dense<float>(context, {0, 2});
  const auto c = contract(context, "ik,kj->ij", a, b);
  const auto elements = gather(context, c.tensor);
  ASSERT_EQ(elements.size(), 6);
  EXPECT_TRUE(std::ranges::all_of(elements, [](float x) { return x == 0; }));
  EXPECT_EQ(nlohmann::json::parse(c.report.json())["precision"], "single");
}

// The file of one process is that of many, and reads back as the same tensor.
TEST(Contract, TensorsAreSavedAndLoaded) {
  const Context context(Comm::world());
  const Comm& comm = context.comm();
  const test::SharedFolder shared(comm);
  const auto value = [](std::span<const Index> i) { return double(i[0] * 100 + i[1] * 10 + i[2]); };
  auto x = make_dense(context, {3, 4, 5});
  fill(x, value);
  save(context, x, shared / "x.npy");
  const auto again = load_dense(context, shared / "x.npy", {comm.size(), 1, 1});
  EXPECT_EQ(again.extents(), x.extents());
  const auto expected = gather(context, x);
  EXPECT_EQ(expected[1], 1);  // the last index is the fastest
  EXPECT_TRUE(std::ranges::equal(gather(context, again), expected));
  try {
    save(context, x, shared / "x.npy", Existing::refused);
    ADD_FAILURE() << "replaced a file";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_option);
  }

  // A result that may not be replaced is refused before the work.
  bool is_planned = false;
  try {
    contract(context, "ijk,ljk->il", x, x,
             {.out = shared / "x.npy", .existing = Existing::refused, .on_plan = [&](const auto&) {
                is_planned = true;
              }});
    ADD_FAILURE() << "replaced a file";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_option);
  }
  EXPECT_FALSE(is_planned);

  EXPECT_THROW(contract_files(context, "ijk,ljk->il", shared / "x.npy", shared / "x.npy",
                              {.out = shared / "." / "x.npy"}),
               Error);

  // Contracted in files, and in memory.
  const auto report =
      contract_files(context, "ijk,ljk->il", shared / "x.npy", shared / "x.npy", {.out = shared / "c.npy"});
  std::string derivation;
  const auto in_memory =
      contract(context, "ijk,ljk->il", x, x, {.on_plan = [&](const auto& text) { derivation = text; }});
  EXPECT_EQ(derivation, in_memory.report.derivation());
  EXPECT_TRUE(std::ranges::equal(gather(context, load_dense(context, shared / "c.npy")),
                                 gather(context, in_memory.tensor)));
  const auto json = nlohmann::json::parse(report.json());
  EXPECT_EQ(json["out"], (shared / "c.npy").string());
  EXPECT_EQ(json["processes"], comm.size());
  EXPECT_EQ(json["communication"]["words"], report.moved_elements());
  EXPECT_NE(report.summary().find("result      3x3, norm "), std::string::npos);
  EXPECT_NE(report.derivation().find("together:"), std::string::npos);
}

TEST(Contract, KeepsAMemoryLimitInBlocks) {
  const Context context(Comm::world());
  if (context.comm().size() == 1) GTEST_SKIP() << "nothing is moved";
  auto a = make_dense(context, {24, 30}), b = make_dense(context, {30, 20});
  fill(a, [](std::span<const Index> i) { return double(i[0] - i[1]); });
  fill(b, [](std::span<const Index> i) { return double(i[0] + 2 * i[1]); });
  const auto whole = contract(context, "ik,kj->ij", a, b);
  const Index used = nlohmann::json::parse(whole.report.json())["memory_bytes"];
  const auto blocked = contract(context, "ik,kj->ij", a, b, {.max_memory_bytes = used - 1});
  const auto json = nlohmann::json::parse(blocked.report.json());
  EXPECT_LT(json["memory_bytes"].get<Index>(), used);
  EXPECT_TRUE(std::ranges::equal(gather(context, blocked.tensor), gather(context, whole.tensor)));
}

void expect_refused(const std::function<void()>& attempt, Errc code, const std::string& option,
                    const std::string& message) {
  try {
    attempt();
    ADD_FAILURE() << "accepted; expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(error.option(), option);
    EXPECT_EQ(std::string(error.what()), message);
  }
}

TEST(Contract, RefusesWhatDoesNotFit) {
  const Context context(Comm::world());
  const int processes = context.comm().size();
  const auto a = make_dense(context, {4, 3}), b = make_dense(context, {5, 2});
  const auto contracted = [&](const std::string& expression, const ContractOptions& options = {}) {
    return [&, expression, options] { contract(context, expression, a, b, options); };
  };
  expect_refused(contracted("ik,kj->ij"), Errc::bad_option, "", "index k has extent 5 in B, but 3 in A");
  expect_refused(contracted("i,kj->ij"), Errc::bad_option, "",
                 "A has 2 modes, but 1 index in the expression");
  expect_refused(contracted("ik->i"), Errc::bad_option, "",
                 "expression 'ik->i': expected two tensors, as in C[ij] += A[ik] * B[kj] or ik,kj->ij");
  const auto run = processes == 1 ? "1 runs" : std::to_string(processes) + " run";
  expect_refused(contracted("ik,lj->ij", {.grid = {processes + 1}}), Errc::bad_option, "grid",
                 "grid " + std::to_string(processes + 1) + " has " + std::to_string(processes + 1) +
                     " processes, but " + run);
  expect_refused(
      [&] {
        make_dense(context, {2, -1});
      },
      Errc::bad_option, "dims", "dims 2x-1: expected numbers from 0 on");
  expect_refused([&] { make_dense(context, std::vector<Index>(13, 1)); }, Errc::bad_option, "dims",
                 "dims: expected at most 12 dimensions, found 13");
  try {
    contract(context, "ik,lj->ij", a, b, {.max_memory_bytes = 8});
    ADD_FAILURE() << "fits into 8 bytes";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::resource);
  }
  auto large = make_dense(context, {2});
  fill(large, [](std::span<const Index>) { return std::numeric_limits<double>::max(); });
  expect_refused([&] { contract(context, "i,i->", large, large); }, Errc::bad_input, "",
                 "the result has numbers that are too large for double precision");
}

}  // namespace
}  // namespace polyad
