#include "polyad/algo/cp/singular_start.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "polyad/algo/cp/random_start.hpp"
#include "polyad/algo/cp/singular_vectors.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/tensor/coordinates_of.hpp"

namespace polyad {
namespace {

// The nonzeros of this process, with global indices: each nonzero is in the tensor of the first mode of one
// process.
template <class Real>
SparseTensor<double> nonzeros_of(const DistTensor<Real>& x) {
  auto local = coordinates_of(x.local(0));
  const Index num_nonzeros = local.num_nonzeros();
  auto arrays = std::move(local).take();
  std::vector<Array<Index>> indices;
  for (int m = 0; m < x.order(); ++m) {
    auto& column = indices.emplace_back(std::size_t(num_nonzeros));
    const auto rows = x.rows(m);
    parallel_for(num_nonzeros, [&](Index z) { column[z] = rows[arrays.indices[m][z]]; });
    arrays.indices[m] = {};
  }
  return {x.extents(), std::move(indices), std::move(arrays.values)};
}

// Rows of singular vectors, from the processes that have them. Collective.
class RowRequest {
 public:
  RowRequest(const Comm& comm, std::span<const Index> wanted, const SingularVectors& from)
      : comm_(comm), from_(from), places_(wanted.size()), counts_(std::size_t(comm.size())) {
    std::vector<int> owners;
    for (const Index row : wanted) ++counts_[owners.emplace_back(from.owners(row))];
    std::vector<Index> next(counts_.size());
    std::exclusive_scan(counts_.begin(), counts_.end(), next.begin(), Index(0));
    Array<Index> requests(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      places_[i] = next[owners[i]]++;
      requests[places_[i]] = wanted[i];
    }
    counts_of_others_ = comm.exchange_counts(counts_);
    asked_.resize(std::size_t(std::accumulate(counts_of_others_.begin(), counts_of_others_.end(), Index(0))));
    comm.all_to_all<Index>(requests, counts_, asked_, counts_of_others_);
  }

  // A row per wanted one.
  Matrix<double> answer() const {
    const Index n = std::ssize(from_.values);
    Matrix<double> replies(std::ssize(asked_), n), received(std::ssize(places_), n);
    for (Index i = 0; i < std::ssize(asked_); ++i) {
      const auto at = std::ranges::lower_bound(from_.rows, asked_[i]) - from_.rows.begin();
      std::ranges::copy(from_.vectors.row(at), replies.row(i).begin());
    }
    comm_.all_to_all<double>(replies.flat(), times(counts_of_others_, n), received.flat(), times(counts_, n));
    Matrix<double> rows(std::ssize(places_), n);
    for (Index i = 0; i < rows.num_rows(); ++i)
      std::ranges::copy(received.row(places_[i]), rows.row(i).begin());
    return rows;
  }

 private:
  static std::vector<Index> times(std::vector<Index> counts, Index factor) {
    for (auto& count : counts) count *= factor;
    return counts;
  }

  const Comm& comm_;
  const SingularVectors& from_;
  std::vector<Index> places_;                     // [wanted]: among what is received
  std::vector<Index> counts_, counts_of_others_;  // [process]: rows that this one asks for, and is asked for
  Array<Index> asked_;
};

// Of length one over the rows of all processes. Collective.
template <class Real>
void normalise(const Comm& comm, Matrix<Real>& columns) {
  std::vector<double> squares(std::size_t(columns.num_cols()));
  for (Index row = 0; row < columns.num_rows(); ++row)
    for (Index r = 0; r < columns.num_cols(); ++r)
      squares[r] += double(columns(row, r)) * double(columns(row, r));
  comm.all_reduce(std::span(squares));
  for (auto& square : squares) square = std::sqrt(square);
  kernels::divide_columns<Real>(columns, squares);
}

template <class Real>
Matrix<Real> start_of_mode(const DistTensor<Real>& x, int mode, Index num_components,
                           const kernels::RandomStart& random) {
  const auto vectors = leading_singular_vectors(x.comm(), nonzeros_of(x), mode,
                                                {.max_vectors = num_components, .seed = random.seed});
  const auto own_rows = x.rows(mode).first(std::size_t(x.num_owned(mode)));
  const auto found = RowRequest(x.comm(), own_rows, vectors).answer();
  Matrix<Real> start(found.num_rows(), num_components);
  kernels::fill_with_start(start, num_components, random, mode, own_rows);
  for (Index row = 0; row < found.num_rows(); ++row)
    for (Index r = 0; r < found.num_cols(); ++r) start(row, r) = Real(found(row, r));
  normalise(x.comm(), start);
  return start;
}

}  // namespace

template <class Real>
std::optional<Kruskal<Real>> singular_start(const DistTensor<Real>& x, const AlsPlan& plan,
                                            const CpRunOptions& options) {
  if (!(x.squared_norm() > 0)) return {};
  const auto& als = options.als;
  const bool is_als = options.method == Method::als;
  const auto random =
      random_start(als, is_als && prefers_uniform_start(x.num_negative(), x.num_nonzeros(), als.nonnegative));
  Kruskal<Real> start;
  start.weights.assign(std::size_t(als.num_components), x.norm() / std::sqrt(double(als.num_components)));
  for (int m = 0; m < x.order(); ++m) {
    if (is_als && m == plan.mode_order.front())
      start.factors.emplace_back(x.num_owned(m), als.num_components);
    else
      start.factors.push_back(start_of_mode(x, m, als.num_components, random));
  }
  return start;
}

template std::optional<Kruskal<float>> singular_start(const DistTensor<float>&, const AlsPlan&,
                                                      const CpRunOptions&);
template std::optional<Kruskal<double>> singular_start(const DistTensor<double>&, const AlsPlan&,
                                                       const CpRunOptions&);

}  // namespace polyad
