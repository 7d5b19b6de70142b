#include "polyad/tasks/detail/npy_tensors.hpp"

#include <fmt/format.h>

#include <numeric>
#include <string>

#include "polyad/base/error.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/dense/slab_exchange.hpp"
#include "polyad/io/arrays/npy_file.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::tasks {
namespace {

// Where process 0 has made the file that all write to. Collective.
std::filesystem::path place_for_all(const Comm& comm, const io::NewPlacedFile* whole) {
  const std::string place = whole == nullptr ? "" : whole->place().string();
  std::vector<char> letters(place.begin(), place.end());
  comm.broadcast(letters, 0);
  return std::string(letters.begin(), letters.end());
}

}  // namespace

NpyInput::NpyInput(const std::filesystem::path& path) : file_(std::make_unique<io::NpyFile>(path)) {
  std::vector<int> labels(file_->head().shape.size());
  std::iota(labels.begin(), labels.end(), 0);
  diagonal_ = std::make_unique<io::NpyDiagonal>(*file_, labels);
}

NpyInput::NpyInput(const std::filesystem::path& path, const dense::IndexNames& indices)
    : file_(std::make_unique<io::NpyFile>(path)) {
  const auto num_dimensions = file_->head().shape.size();
  if (num_dimensions != indices.size())
    file_->fail(fmt::format("has {}, but {} {} in the expression",
                            report::counted(Index(num_dimensions), "dimension"), indices.size(),
                            indices.size() == 1 ? "index" : "indices"));
  diagonal_ = std::make_unique<io::NpyDiagonal>(*file_, dense::first_places(indices));
}

template <class Real>
dense::DenseTensor<Real> NpyInput::read(const ProcessGrid& grid,
                                        const dense::TensorDistribution& distribution) const {
  const OneProcessWorks patience;  // a slow disk is no fault
  dense::DenseTensor<Real> x(grid, shape(), distribution);
  const auto order =
      file_->head().by_columns ? dense::FileOrder::first_mode_fastest : dense::FileOrder::last_mode_fastest;
  dense::distribute_slabs<Real>(x, order,
                                [&](Index first, std::span<Real> into) { diagonal_->read(first, into); });
  return x;
}
template dense::DenseTensor<float> NpyInput::read(const ProcessGrid&, const dense::TensorDistribution&) const;
template dense::DenseTensor<double> NpyInput::read(const ProcessGrid&,
                                                   const dense::TensorDistribution&) const;

template <class Real>
void write_npy(const dense::DenseTensor<Real>& x, const std::filesystem::path& path, Existing existing) {
  const OneProcessWorks patience;  // a slow disk is no fault
  const Comm& comm = x.grid().comm();
  const auto header = io::npy_header(x.extents(), sizeof(Real));
  const Index bytes = std::ssize(header) + dense::num_elements(x.extents()) * Index(sizeof(Real));
  std::unique_ptr<io::NewPlacedFile> whole;  // on process 0
  collectively(comm, [&] {
    if (comm.rank() == 0) whole = std::make_unique<io::NewPlacedFile>(path, bytes, existing);
  });
  const auto place = place_for_all(comm, whole.get());
  const auto file = collectively(comm, [&] { return std::make_unique<io::PlacedFile>(path, place); });
  collectively(comm, [&] {
    if (comm.rank() == 0) file->write(0, header);
  });
  dense::collect_slabs<Real>(x, dense::FileOrder::last_mode_fastest,
                             [&](Index first, std::span<const Real> from) {
                               file->write(std::ssize(header) + first * Index(sizeof(Real)),
                                           {reinterpret_cast<const char*>(from.data()), from.size_bytes()});
                             });
  collectively(comm, [&] { file->sync(); });
  collectively(comm, [&] {
    if (whole) whole->commit();
  });
}
template void write_npy(const dense::DenseTensor<float>&, const std::filesystem::path&, Existing);
template void write_npy(const dense::DenseTensor<double>&, const std::filesystem::path&, Existing);

}  // namespace polyad::tasks
