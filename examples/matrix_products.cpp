// Matrices and vectors on a grid of processes, in the same notation as tensors (Schatz 2013, appendix A; see
// docs/algorithms.md): a product with a vector, a rank-one update, and a product of matrices with
// each of the three staying where it is. For every one the derivation is printed, which collectives it takes
// among whom, and the result is checked against the sums written out. The same program runs on one process or
// under mpirun.

#include <cmath>
#include <cstdio>

#include "polyad/base/random.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/dense/contract_tensors.hpp"
#include "polyad/dense/distribution_text.hpp"

namespace {

using polyad::dense::DenseTensor, polyad::Index, polyad::ProcessGrid, polyad::dense::Stationary;

constexpr Index num_rows = 12, num_cols = 10, num_inner = 8;
enum Name { a, b, x, y };

// Any numbers would do; these are functions of the place, so that every process can say them.
double element(Name name, std::span<const Index> at) {
  const Index row = at.empty() ? 0 : at[0], col = at.size() < 2 ? 0 : at[1];
  return polyad::Random(1, name).normal(std::uint64_t(row * 100 + col));
}

DenseTensor<double> made(Name name, const ProcessGrid& grid, std::vector<Index> extents, const char* how) {
  DenseTensor<double> result(grid, std::move(extents), polyad::dense::parse_distribution(how).distribution);
  fill(result, [&](std::span<const Index> at) { return element(name, at); });
  return result;
}

DenseTensor<double> zeros(const ProcessGrid& grid, std::vector<Index> extents, const char* how) {
  DenseTensor<double> result(grid, std::move(extents), polyad::dense::parse_distribution(how).distribution);
  fill(result, [](auto) { return 0; });
  return result;
}

// Whether every element is what `expected` says, on all processes.
template <class Expected>
bool is_right(const DenseTensor<double>& found, Expected expected) {
  bool right = true;
  for_each_element(found.share(), [&](std::span<const Index> at, Index offset) {
    right = right && std::abs(found.local()[std::size_t(offset)] - expected(at)) < 1e-10;
  });
  return found.grid().comm().all_reduce(Index(right ? 1 : 0), polyad::Reduce::min) == 1;
}

// Contracts with one of the three staying where it is, and prints how.
void contract_and_explain(const char* title, const polyad::dense::IndexedResult<double>& c,
                          const polyad::dense::IndexedProduct<double>& product, Stationary stationary) {
  polyad::dense::ContractionChoice choice;
  choice.stationary = stationary;
  const auto plan = choose_contraction(problem_of(c, product), choice);
  polyad::dense::DenseTally tally;
  contract(c.result, product.a.tensor, product.b.tensor, plan, tally);
  if (c.tensor.grid().comm().rank() == 0) std::printf("%s\n%s\n", title, explain(plan.plan).c_str());
}

double product_with(Name matrix, Name other, Index row, Index col) {
  double sum = 0;
  for (Index k = 0; k < num_inner; ++k) {
    const Index left[] = {row, k}, right[] = {k, col};
    sum += element(matrix, left) * element(other, right);
  }
  return sum;
}

bool vectors(const ProcessGrid& grid) {
  const auto matrix = made(a, grid, {num_rows, num_inner}, "(<0>,<1>)");
  const auto vector = made(x, grid, {num_inner}, "(<1,0>)");
  auto result = zeros(grid, {num_rows}, "(<0,1>)");
  contract_and_explain("y = A x", indexed(result, "i"), indexed(matrix, "ik") * indexed(vector, "k"),
                       Stationary::a);

  auto updated = made(a, grid, {num_rows, num_inner}, "(<0>,<1>)");
  const auto left = made(y, grid, {num_rows}, "(<0,1>)");
  contract_and_explain("A += y x^T", indexed(updated, "ik"), indexed(left, "i") * indexed(vector, "k"),
                       Stationary::c);
  return is_right(result, [](auto at) { return product_with(a, x, at[0], 0); }) &&
         is_right(updated, [](auto at) {
           return element(a, at) + element(y, at.first(1)) * element(x, at.subspan(1));
         });
}

bool matrices(const ProcessGrid& grid, const char* title, Stationary stationary) {
  const auto left = made(a, grid, {num_rows, num_inner}, "(<0>,<1>)"),
             right = made(b, grid, {num_inner, num_cols}, "(<0>,<1>)");
  auto result = zeros(grid, {num_rows, num_cols}, "(<0>,<1>)");
  contract_and_explain(title, indexed(result, "ij"), indexed(left, "ik") * indexed(right, "kj"), stationary);
  return is_right(result, [](auto at) { return product_with(a, b, at[0], at[1]); });
}

}  // namespace

int main(int argc, char** argv) {
  const polyad::Runtime runtime(argc, argv);
  const auto world = polyad::Comm::world();
  int height = int(std::sqrt(world.size()));
  while (world.size() % height != 0) --height;
  const ProcessGrid grid(world, polyad::GridShape({height, world.size() / height}));
  const bool right = vectors(grid) && matrices(grid, "C = A B, A stays", Stationary::a) &&
                     matrices(grid, "C = A B, B stays", Stationary::b) &&
                     matrices(grid, "C = A B, C stays", Stationary::c);
  if (world.rank() == 0) std::printf(right ? "all as by their definitions\n" : "wrong\n");
  return right ? 0 : 1;
}
