// A fragment of third-order Moller-Plesset theory, as chemistry writes it:
//   e = T[abij] (U[abcd] T[cdij] + V[acik] T[bcjk] + W[ijkl] T[abkl]).
// Every product is one line below; how the tensors are moved and multiplied is derived for each. The same
// program runs on one process or under mpirun. It checks its result against the sums written out, and says so
// by its exit code.

#include <cmath>
#include <cstdio>
#include <span>

#include "polyad/base/random.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/dense/contraction_terms.hpp"

namespace {

using polyad::dense::DenseTensor, polyad::Index, polyad::Random;

constexpr Index virtuals = 6, occupied = 4;  // a, b, c, d and i, j, k, l
enum Name { t, u, v, w };

// Any numbers would do; these are functions of the place, so that every process can say them.
double element(Name name, Index p, Index q, Index r, Index s) {
  return Random(1, name).normal(std::uint64_t(((p * 10 + q) * 10 + r) * 10 + s)) / 10;
}

DenseTensor<double> tensor(Name name, const polyad::ProcessGrid& grid, std::vector<Index> extents) {
  DenseTensor<double> x(grid, std::move(extents),
                        polyad::dense::canonical_distribution(4, grid.shape().order()));
  fill(x, [&](std::span<const Index> i) { return element(name, i[0], i[1], i[2], i[3]); });
  return x;
}

// What stands in the parentheses, by its definition.
double bracket(Index a, Index b, Index i, Index j) {
  double sum = 0;
  for (Index c = 0; c < virtuals; ++c) {
    for (Index d = 0; d < virtuals; ++d) sum += element(u, a, b, c, d) * element(t, c, d, i, j);
    for (Index k = 0; k < occupied; ++k) sum += element(v, a, c, i, k) * element(t, b, c, j, k);
  }
  for (Index k = 0; k < occupied; ++k)
    for (Index l = 0; l < occupied; ++l) sum += element(w, i, j, k, l) * element(t, a, b, k, l);
  return sum;
}

double energy_by_definition() {
  double energy = 0;
  for (Index a = 0; a < virtuals; ++a)
    for (Index b = 0; b < virtuals; ++b)
      for (Index i = 0; i < occupied; ++i)
        for (Index j = 0; j < occupied; ++j) energy += element(t, a, b, i, j) * bracket(a, b, i, j);
  return energy;
}

double energy_by_contractions(const polyad::ProcessGrid& grid) {
  const auto amplitudes = tensor(t, grid, {virtuals, virtuals, occupied, occupied});
  const auto particles = tensor(u, grid, {virtuals, virtuals, virtuals, virtuals});
  const auto rings = tensor(v, grid, {virtuals, virtuals, occupied, occupied});
  const auto holes = tensor(w, grid, {occupied, occupied, occupied, occupied});
  DenseTensor<double> x(grid, {virtuals, virtuals, occupied, occupied}, amplitudes.distribution());
  DenseTensor<double> energy(grid, {}, polyad::dense::canonical_distribution(0, grid.shape().order()));
  fill(x, [](auto) { return 0; });
  fill(energy, [](auto) { return 0; });

  // The amplitudes stand in every term: where one has moved them to, the next may start.
  polyad::dense::ContractionTerms<double> terms;
  terms.add(indexed(x, "abij"), indexed(particles, "abcd") * indexed(amplitudes, "cdij"));
  terms.add(indexed(x, "abij"), indexed(rings, "acik") * indexed(amplitudes, "bcjk"));
  terms.add(indexed(x, "abij"), indexed(holes, "ijkl") * indexed(amplitudes, "abkl"));
  indexed(energy, "") += indexed(amplitudes, "abij") * indexed(x, "abij");
  return energy.local()[0];
}

}  // namespace

int main(int argc, char** argv) {
  const polyad::Runtime runtime(argc, argv);
  const auto world = polyad::Comm::world();
  const polyad::ProcessGrid grid(world, polyad::GridShape({world.size(), 1, 1, 1}));
  const double energy = energy_by_contractions(grid), expected = energy_by_definition();
  if (world.rank() == 0) std::printf("energy %.12f, by its definition %.12f\n", energy, expected);
  return std::abs(energy - expected) < 1e-10 * std::abs(expected) ? 0 : 1;
}
