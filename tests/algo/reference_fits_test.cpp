// Fits that are known from elsewhere; those on real data are skipped without it (see the README beside the
// data).

#include <gtest/gtest.h>

#include <filesystem>

#include "polyad/io/tensors/read_tensor.hpp"
#include "tests/support/decomposed.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

using test::best_fit;
using test::decompose;
using test::options_for;

class ReferenceFits : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(test::shared_data() / "dense")) GTEST_SKIP() << test::no_shared_data;
  }
  static SparseTensor<double> read(const std::string& name, std::vector<Index> dims = {}) {
    io::ReadOptions options;
    options.dims = std::move(dims);
    return io::read_tensor(test::shared_data() / name, options).tensor;
  }
  const test::Threads one_{1};  // the tensors are small
};

TEST_F(ReferenceFits, amino_acids_have_one_optimum_of_rank_three) {
  const auto x = read("dense/aminoacid.sptensor.txt.gz");
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    EXPECT_NEAR(decompose(x, options_for(3, 2000, 1e-12, seed)).fit(), 0.97495148, 1e-6) << "seed " << seed;
}

TEST_F(ReferenceFits, amino_acids_have_the_same_optimum_for_all_factors_at_once) {
  const auto x = read("dense/aminoacid.sptensor.txt.gz");
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    auto options = options_for(3, 2000, 1e-12, seed);
    options.method = Method::opt;
    EXPECT_NEAR(decompose(x, options).fit(), 0.97495148, 1e-6) << "seed " << seed;
  }
}

TEST_F(ReferenceFits, amino_acids_of_other_ranks) {
  const auto x = read("dense/aminoacid.sptensor.txt.gz");
  EXPECT_NEAR(best_fit(x, options_for(1, 500, 1e-10), 3), 0.40325883, 1e-5);
  EXPECT_NEAR(best_fit(x, options_for(2, 500, 1e-10), 3), 0.63631742, 1e-5);
  EXPECT_NEAR(best_fit(x, options_for(4, 2000, 1e-8), 10), 0.97833149, 0.005);
}

// The tensor of C = AB for matrices of n rows and columns: a mode for the entries of each matrix.
SparseTensor<double> matrix_multiplication(Index n) {
  SparseTensor<double> x({n * n, n * n, n * n});
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      for (Index k = 0; k < n; ++k) x.append(std::vector<Index>{i * n + k, k * n + j, i * n + j}, 1);
  return x;
}

TEST(KnownFits, two_by_two_matrices_multiply_with_seven_products_not_six) {
  const test::Threads one(1);
  const auto x = matrix_multiplication(2);
  double best = 0;
  for (std::uint64_t seed = 1; seed <= 10 && best <= 0.9999; ++seed)
    best = std::max(best, decompose(x, options_for(7, 10000, 0, seed)).fit());
  EXPECT_GT(best, 0.9999);
  EXPECT_LT(best_fit(x, options_for(6, 10000, 1e-12), 10), 0.6465);
}

TEST_F(ReferenceFits, knowledge_graphs) {
  EXPECT_NEAR(best_fit(read("kg/nations/nations.tns.gz"), options_for(5, 1000, 1e-7), 10), 0.3562, 0.005);
  EXPECT_NEAR(best_fit(read("kg/nations/nations.tns.gz"), options_for(10, 1000, 1e-7), 10), 0.4480, 0.005);
  EXPECT_NEAR(best_fit(read("kg/umls/umls.tns.gz"), options_for(10, 1000, 1e-7), 10), 0.3481, 0.005);
  EXPECT_NEAR(best_fit(read("kg/kinship/kinship.tns.gz"), options_for(10, 1000, 1e-7), 10), 0.2070, 0.005);
}

}  // namespace
}  // namespace polyad
