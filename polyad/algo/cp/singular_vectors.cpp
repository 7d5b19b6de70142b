#include "polyad/algo/cp/singular_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "polyad/base/parallel.hpp"
#include "polyad/base/random.hpp"
#include "polyad/distributed/cp/local_nonzeros.hpp"
#include "polyad/distributed/row_exchange.hpp"
#include "polyad/kernels/cp/normal_equations.hpp"
#include "polyad/kernels/cp/unfolding.hpp"

// Notation: X is the unfolded tensor, G = X X^T, s a singular value, t = s^2 an eigenvalue of G.

namespace polyad {
namespace {

// Columns of the subspace beyond those wanted: the last ones converge slowly.
constexpr Index num_spare = 8;
// Eigenvalues of G, relative to the largest, below which they are zero up to rounding.
constexpr double negligible_eigenvalue = 1e-12;
// How much a polynomial may enlarge the first vector over the last, so that all stay independent.
constexpr double max_gain = 1e5;
constexpr int max_degree = 10;
constexpr std::uint64_t first_stream = 3000;

// Nonzeros of one column of X are on one process.
Distribution by_column(const Comm& comm, const SparseTensor<double>& share, int mode) {
  Distribution distribution;
  distribution.num_parts = comm.size();
  if (comm.size() == 1) return distribution;
  OwnedByList owners;
  owners.parts.resize(std::size_t(share.num_nonzeros()));
  parallel_for(share.num_nonzeros(), [&](Index z) {
    std::uint64_t hash = 0;
    for (int m = 0; m < share.order(); ++m)
      if (m != mode) hash = Random(hash, std::uint64_t(m)).bits(std::uint64_t(share.indices(m)[z]))[0];
    owners.parts[z] = int(hash % std::uint64_t(comm.size()));
  });
  distribution.nonzeros.emplace_back(std::move(owners));
  for (const Index extent : share.extents())
    distribution.rows.emplace_back(ShuffledParts(extent, comm.size(), first_stream));
  return distribution;
}

// G, with the rows of a subspace and of its image under G that this process owns, followed by those of
// others.
class GramOperator {
 public:
  GramOperator(const Comm& comm, SparseTensor<double> share, int mode) : comm_(comm) {
    const auto extent = share.extent(mode);
    const auto distribution = by_column(comm, share, mode);
    auto local = localise<double>(comm, move_to_owners(comm, std::move(share), distribution), distribution);
    plan_ = std::move(local.exchanges[mode]);
    scale_ = local.value_scale;
    owners_ = comm.size() == 1 ? RowOwners(RowBlocks{{0, extent}, {0}}) : distribution.rows[mode];
    unfolding_ = kernels::unfold(std::move(local.tensors.front()), mode);
  }

  // Collective.
  Index num_rows() const { return comm_.all_reduce(plan_.num_owned); }
  Index num_owned() const { return plan_.num_owned; }
  Index global_row(Index row) const { return plan_.rows[row]; }
  double value_scale() const { return scale_; }
  const RowOwners& owners() const { return owners_; }
  int num_products() const { return num_products_; }

  void begin(Index num_columns) {
    space = Matrix<double>(plan_.num_local(), num_columns);
    image = Matrix<double>(plan_.num_local(), num_columns);
    parts_ = kernels::PartialRows<double>(num_threads(), plan_.num_local(), num_columns);
    exchange_.emplace_back(comm_, plan_, RowExchange<double>::Rows{image, space, num_columns}, 0);
  }

  // image = G space. Collective.
  void multiply() {
    auto& exchange = exchange_.front();
    exchange.start_expanding();
    exchange.finish_expanding();
    kernels::multiply_by_gram(unfolding_, space, parts_, image);
    exchange.fold();
    ++num_products_;
  }

  // Over all rows of all processes. Collective.
  Matrix<double> products(const Matrix<double>& a, const Matrix<double>& b) const {
    auto result = kernels::column_products(a, b, num_owned());
    comm_.all_reduce(result.flat());
    return result;
  }

  Matrix<double> space, image;

 private:
  Comm comm_;
  ExchangePlan plan_;
  RowOwners owners_;
  kernels::Unfolding unfolding_;
  double scale_ = 1;
  kernels::PartialRows<double> parts_;
  std::vector<RowExchange<double>> exchange_;
  int num_products_ = 0;
};

class SubspaceIteration {
 public:
  SubspaceIteration(const Comm& comm, GramOperator& gram, const SingularOptions& options, int mode)
      : comm_(comm),
        gram_(gram),
        options_(options),
        stream_(first_stream + std::uint64_t(mode)),
        num_columns_(std::min(options.max_vectors + num_spare, gram.num_rows())) {
    gram.begin(num_columns_);
    for (Index r = 0; r < num_columns_; ++r) fill_with_random(r);
    orthonormalise();
  }

  void run() {
    gram_.multiply();
    for (rotate(); !has_converged() && gram_.num_products() < options_.max_products; rotate()) {
      filter();
      orthonormalise();
      gram_.multiply();
    }
  }

  Index num_found() const {
    const auto end = std::ranges::find_if(
        eigenvalues_, [&](double value) { return !(value > negligible_eigenvalue * eigenvalues_.front()); });
    return std::min(options_.max_vectors, Index(end - eigenvalues_.begin()));
  }
  double eigenvalue(Index r) const { return eigenvalues_[r]; }

 private:
  void fill_with_random(Index column) {
    const Random random(options_.seed, stream_ + (num_fills_++ << 16U));  // other numbers each time
    parallel_for(gram_.num_owned(), [&](Index row) {
      gram_.space(row, column) = random.normal(std::uint64_t(gram_.global_row(row)));
    });
  }

  // By eigenvalues of the Gram matrix (Stathopoulos and Wu 2002), twice, as the first time is not exact where
  // columns were nearly dependent. Directions that are lost in rounding become random ones.
  void orthonormalise() {
    constexpr double lost = 1e-13;
    int clean_passes = 0;
    for (int pass = 0; clean_passes < 2 && pass < 8; ++pass) {
      auto products = gram_.products(gram_.space, gram_.space);
      std::vector<double> scale;
      for (Index r = 0; r < num_columns_; ++r)
        scale.push_back(products(r, r) > 0 ? 1 / std::sqrt(products(r, r)) : 0);
      for (Index i = 0; i < num_columns_; ++i)
        for (Index j = 0; j < num_columns_; ++j) products(i, j) *= scale[i] * scale[j];
      auto [values, vectors] = kernels::symmetric_eigen(std::move(products));
      const double least = lost * values[0];
      const auto num_kept = Index(std::ranges::count_if(values, [least](double v) { return v > least; }));
      for (Index i = 0; i < num_columns_; ++i)
        for (Index j = 0; j < num_columns_; ++j)
          vectors(i, j) = j < num_kept ? vectors(i, j) * scale[i] / std::sqrt(values[j]) : 0;
      kernels::multiply_columns(gram_.space, vectors, gram_.num_owned());
      for (Index r = num_kept; r < num_columns_; ++r) fill_with_random(r);
      if (num_kept == num_columns_) ++clean_passes;
    }
  }

  // Space and image, in the basis in which G is diagonal on the space (Rayleigh and Ritz).
  void rotate() {
    auto [values, vectors] = kernels::symmetric_eigen(gram_.products(gram_.space, gram_.image));
    kernels::multiply_columns(gram_.space, vectors, gram_.num_owned());
    kernels::multiply_columns(gram_.image, vectors, gram_.num_owned());
    eigenvalues_ = std::move(values);
  }

  bool has_converged() const {
    const Index n = num_columns_;
    std::vector<double> squares(static_cast<std::size_t>(n));
    for (Index row = 0; row < gram_.num_owned(); ++row)
      for (Index r = 0; r < n; ++r) {
        const double rest = gram_.image(row, r) - eigenvalues_[r] * gram_.space(row, r);
        squares[r] += rest * rest;
      }
    comm_.all_reduce(std::span(squares));
    const double rounding = negligible_eigenvalue * eigenvalues_.front();
    for (Index r = 0; r < num_found(); ++r)
      if (!(std::sqrt(squares[r]) <= options_.tolerance * eigenvalues_[r] + rounding)) return false;
    return true;
  }

  // Multiplies the space with the Chebyshev polynomial of G that is small up to its smallest eigenvalue
  // there, and of the highest degree that keeps the columns apart.
  void filter() {
    const double half = std::max(eigenvalues_.back(), negligible_eigenvalue * eigenvalues_.front()) / 2;
    const double steepness = std::acosh(std::max(1 + 1e-9, eigenvalues_.front() / half - 1));
    const int degree = std::clamp(int(std::acosh(max_gain) / steepness), 1, max_degree);
    auto before = gram_.space;
    step(before, half, 1, 0);
    for (int d = 1; d < degree; ++d) {
      gram_.multiply();
      step(before, half, 2, 1);
    }
  }

  // space, before = factor (image / half - space) - weight * before, space
  void step(Matrix<double>& before, double half, double factor, double weight) {
    const Index size = gram_.num_owned() * num_columns_;
    const auto space = gram_.space.flat(), image = gram_.image.flat(), last = before.flat();
    parallel_for(size, [&](Index i) {
      const double next = factor * (image[i] / half - space[i]) - weight * last[i];
      last[i] = space[i];
      space[i] = next;
    });
  }

  const Comm& comm_;
  GramOperator& gram_;
  const SingularOptions& options_;
  std::uint64_t stream_;  // of random numbers
  Index num_columns_;
  std::uint64_t num_fills_ = 0;
  std::vector<double> eigenvalues_;  // of G on the space, descending
};

// [vector]: 1 or -1, by the sign of the first entry that is the largest up to rounding. Collective.
std::vector<double> signs(const Comm& comm, const GramOperator& gram, Index num_vectors) {
  constexpr double nearly = 1 - 1e-6;
  constexpr auto none = std::numeric_limits<Index>::max();
  std::vector<double> largest(static_cast<std::size_t>(num_vectors));
  for (Index row = 0; row < gram.num_owned(); ++row)
    for (Index r = 0; r < num_vectors; ++r) largest[r] = std::max(largest[r], std::abs(gram.space(row, r)));
  comm.all_reduce(std::span(largest), Reduce::max);
  std::vector<Index> first(largest.size(), none);  // twice the global row, and one more if negative
  for (Index row = 0; row < gram.num_owned(); ++row)
    for (Index r = 0; r < num_vectors; ++r)
      if (std::abs(gram.space(row, r)) >= nearly * largest[r])
        first[r] = std::min(first[r], 2 * gram.global_row(row) + (gram.space(row, r) < 0 ? 1 : 0));
  comm.all_reduce(std::span(first), Reduce::min);
  std::vector<double> result;
  for (const Index entry : first) result.push_back(entry % 2 == 0 ? 1 : -1);
  return result;
}

}  // namespace

SingularVectors leading_singular_vectors(const Comm& comm, SparseTensor<double> share, int mode,
                                         const SingularOptions& options) {
  SingularVectors result;
  GramOperator gram(comm, std::move(share), mode);
  result.owners = gram.owners();
  if (gram.num_rows() == 0) return result;
  SubspaceIteration iteration(comm, gram, options, mode);
  iteration.run();
  const Index num_found = iteration.num_found();
  for (Index r = 0; r < num_found; ++r)
    result.values.push_back(std::sqrt(iteration.eigenvalue(r)) * gram.value_scale());
  const auto sign = signs(comm, gram, num_found);
  std::vector<Index> order(static_cast<std::size_t>(gram.num_owned()));
  std::iota(order.begin(), order.end(), Index(0));
  std::ranges::sort(order, {}, [&](Index row) { return gram.global_row(row); });
  result.vectors = Matrix<double>(gram.num_owned(), num_found);
  for (Index row = 0; row < gram.num_owned(); ++row) {
    result.rows.push_back(gram.global_row(order[row]));
    for (Index r = 0; r < num_found; ++r) result.vectors(row, r) = sign[r] * gram.space(order[row], r);
  }
  result.num_products = gram.num_products();
  return result;
}

Index singular_vector_bytes(Index num_nonzeros, int order, Index num_rows, Index max_vectors) {
  // While nonzeros are moved there are two copies and their owners; afterwards a compact one and the
  // subspace.
  const Index moving =
      2 * coordinate_bytes(order, num_nonzeros, sizeof(double)) + num_nonzeros * Index(sizeof(int) + 2 * 16);
  const Index unfolded = num_nonzeros * Index(sizeof(double) + sizeof(Index) + sizeof(LocalIndex));
  const Index columns = std::min(num_rows, max_vectors + num_spare);
  return std::max(moving, unfolded + num_rows * columns * (4 + num_threads()) * Index(sizeof(double)));
}

}  // namespace polyad
