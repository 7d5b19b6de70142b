#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "polyad/dense/dense_tensor.hpp"
#include "polyad/io/bytes/existing.hpp"
#include "polyad/tasks/context.hpp"

namespace polyad {

// A dense tensor of float or double, distributed over the processes of a context; see dense_tensor.hpp. Each
// process has the elements of its share(); fill() sets all elements by a function of their indices.
template <class Real>
using DenseTensor = dense::DenseTensor<Real>;

// Functions that make a tensor take the grid of processes, as in {2, 3}; empty: of two modes, as square as
// possible.

// A tensor of zeros. Throws Error{bad_option} for more than dense::max_dense_order modes, a negative
// dimension, or a grid of another number of processes. Collective.
template <class Real = double>
DenseTensor<Real> make_dense(const Context& context, std::vector<Index> dims,
                             const std::vector<int>& grid = {});

// All elements, with the last index fastest as in C and NumPy, on every process. Collective.
template <class Real>
Array<Real> gather(const Context& context, const DenseTensor<Real>& x);

// Reads an array of NumPy (.npy) of single or double precision, in C or Fortran order. Each process reads a
// part of the file. Throws Error{bad_input} for any other file, for numbers that are not finite and for
// numbers that are too large for Real. Collective.
template <class Real = double>
DenseTensor<Real> load_dense(const Context& context, const std::filesystem::path& path,
                             const std::vector<int>& grid = {});

// Writes an array of NumPy (.npy) in C order. Each process writes a part of the file, which appears under its
// name when it is complete. Throws Error{io} and Error{resource} where it cannot be written. Collective.
template <class Real>
void save(const Context& context, const DenseTensor<Real>& x, const std::filesystem::path& path,
          Existing existing = Existing::replaced);

// The tensor that is not moved between processes in a contraction.
enum class StationaryTensor { automatic, a, b, c };

struct ContractOptions {
  // The grid of processes, as in {2, 3}. Empty: that of the inputs where both are in memory on the same grid,
  // otherwise the one that is predicted to be the fastest.
  std::vector<int> grid = {};
  // The tensor that is not moved; automatic: the choice that is predicted to be the fastest.
  StationaryTensor stationary = StationaryTensor::automatic;
  // What a process may hold of tensors and messages at once, in bytes; 0: no limit. When nothing fits, the
  // contraction is done in blocks of one index.
  Index max_memory_bytes = 0;
  // The .npy file that the result is written to; empty: none. It is checked before the inputs are read.
  std::filesystem::path out = {};
  // What happens to a file that exists under this name.
  Existing existing = Existing::replaced;
  // Called with ContractionReport::derivation on every process, before the inputs are read or moved.
  std::function<void(const std::string& derivation)> on_plan = {};
};

// How a contraction was done and what it took. Copies share it.
class ContractionReport {
 public:
  struct State;  // private to the library
  explicit ContractionReport(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  // "C[abji] += A[acik] * B[bcjk]", however it was given.
  std::string expression() const;
  std::vector<Index> dims() const;  // of the result; empty for a number
  double norm() const;              // the square root of the sum of squares of the result
  // Elements that processes received from others, all together.
  Index moved_elements() const;
  // The grid and way that were chosen, and how long it took: text for people.
  std::string summary() const;
  // How the algorithm was derived, and what each of its steps costs: text for people.
  std::string derivation() const;
  // All figures of the run as one JSON object; docs/json.md describes its keys.
  std::string json() const;

 private:
  std::shared_ptr<const State> state_;
};

// The result of a contraction, on the grid that the report names.
template <class Real>
struct Contraction {
  DenseTensor<Real> tensor;
  ContractionReport report;
};

// Multiplies two dense tensors and sums over the indices that the result does not have. The expression names
// the indices as numpy.einsum does, "acik,bcjk->abji", or as a formula, "C[abji] = A[acik] * B[bcjk]"; an
// index that stands twice in an input takes its diagonal. The inputs are moved where they do not lie on the
// grid of the contraction. Throws Error{bad_option} for an expression that does not fit the tensors,
// Error{resource} when nothing fits into max_memory_bytes, and Error{bad_input} when the result is too large
// for Real. Collective.
template <class Real>
Contraction<Real> contract(const Context& context, const std::string& expression, const DenseTensor<Real>& a,
                           const DenseTensor<Real>& b, const ContractOptions& options = {});

// The same for two arrays in .npy files, which are read as the contraction distributes them; in single
// precision if both are. The result is written to options.out, if that is given, and not kept. Warns when a
// process took more memory than is allowed. Collective.
ContractionReport contract_files(const Context& context, const std::string& expression,
                                 const std::filesystem::path& a, const std::filesystem::path& b,
                                 const ContractOptions& options = {});

}  // namespace polyad
