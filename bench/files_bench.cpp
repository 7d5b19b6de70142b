// Reading and writing tensor files that lie in the page cache. POLYAD_BENCH_NNZ sets their size.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/io/bytes/input_file.hpp"
#include "polyad/io/tensors/read_tensor.hpp"
#include "polyad/io/tensors/write_tensor.hpp"
#include "polyad/tensor/generate/generate.hpp"

namespace polyad {
namespace {

// One tensor, written once in every format, gone at the end.
class Files {
 public:
  Files() {
    const char* size = std::getenv("POLYAD_BENCH_NNZ");
    SkewedOptions options = options_like("nell");
    options.num_nonzeros = size == nullptr ? 2'000'000 : std::atoll(size);
    x_ = generate_skewed(options);
    std::string name = (std::filesystem::temp_directory_path() / "polyad-bench-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    for (const auto* file : {"x.tns", "x.tns.gz", "x.bin", "x.ptb"}) io::write_tensor(folder_ / file, x_, {});
  }
  ~Files() { std::filesystem::remove_all(folder_); }

  const SparseTensor<double>& tensor() const { return x_; }
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

 private:
  SparseTensor<double> x_;
  std::filesystem::path folder_;
};

const Files& files() {
  static const Files all;
  return all;
}

void count(benchmark::State& state, const std::filesystem::path& path) {
  state.SetBytesProcessed(state.iterations() * Index(std::filesystem::file_size(path)));
  state.SetItemsProcessed(state.iterations() * files().tensor().num_nonzeros());
}

void read(benchmark::State& state, const std::string& name) {
  for (auto _ : state) benchmark::DoNotOptimize(io::read_tensor(files().path(name)).tensor.values().data());
  count(state, files().path(name));
}
BENCHMARK_CAPTURE(read, tns, "x.tns")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, tns_gz, "x.tns.gz")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, splatt_bin, "x.bin")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, ptb, "x.ptb")->UseRealTime()->Unit(benchmark::kMillisecond);

// The bytes of a file into fresh memory, by all threads: what no reader can beat.
void read_bytes(benchmark::State& state, const std::string& name) {
  const io::InputFile file(files().path(name));
  for (auto _ : state) {
    Array<char> bytes(file.size());
    parallel_parts(file.size(), [&](Index begin, Index end, int) {
      file.read(begin, std::span(bytes).subspan(begin, end - begin));
    });
    benchmark::DoNotOptimize(bytes.data());
  }
  count(state, files().path(name));
}
BENCHMARK_CAPTURE(read_bytes, tns, "x.tns")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_bytes, ptb, "x.ptb")->UseRealTime()->Unit(benchmark::kMillisecond);

void write(benchmark::State& state, const std::string& name) {
  for (auto _ : state) io::write_tensor(files().path(name), files().tensor(), {});
  count(state, files().path(name));
}
BENCHMARK_CAPTURE(write, tns, "w.tns")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(write, ptb, "w.ptb")->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace polyad
