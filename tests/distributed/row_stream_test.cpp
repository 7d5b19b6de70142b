#include "polyad/distributed/cp/row_stream.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "polyad/base/random.hpp"
#include "polyad/io/models/kruskal.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/gathered_rows.hpp"
#include "tests/support/shares.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

using io::KruskalFormat;

// With more rows than one process is asked for at once, and many that do not exist.
const std::vector<Index> extents{16000, 3, 500};
constexpr Index num_components = 37;

template <class Real>
DistTensor<Real> distributed(const Comm& comm, int n, const std::vector<Index>& dims = extents,
                             Index num_nonzeros = 2000) {
  const auto share = test::share_of(test::tame_tensor(dims, num_nonzeros, 3), comm);
  const Distributor distributor(comm, share, comm.size(), 7);
  const auto distribution = test::some_distribution(distributor, comm.size(), n);
  auto x = localise<Real>(comm, move_to_owners(comm, share, distribution), distribution);
  std::vector<LocalTensor<Real>> locals;
  for (auto& tensor : x.tensors) locals.push_back(build_format(std::move(tensor), Format::coo, {}));
  return {comm, dims, x, std::move(locals)};
}

// Its numbers depend on their places in the whole only.
template <class Real>
Kruskal<Real> own_rows(const DistTensor<Real>& x) {
  Kruskal<Real> model{std::vector<double>(std::size_t(num_components), 2.5), {}};
  for (int m = 0; m < x.order(); ++m) {
    auto& factor = model.factors.emplace_back(x.num_owned(m), num_components);
    for (Index i = 0; i < x.num_owned(m); ++i)
      for (Index r = 0; r < num_components; ++r)
        factor(i, r) =
            Real(Random(5, std::uint64_t(m)).normal(std::uint64_t(x.rows(m)[i] * num_components + r)));
  }
  return model;
}

std::string all_bytes(const std::filesystem::path& path, KruskalFormat format) {
  if (format != KruskalFormat::splatt) return test::contents(path);
  std::string bytes = test::contents(path / "lambda.mat");
  for (const char* name : {"mode1.mat", "mode2.mat", "mode3.mat"}) bytes += test::contents(path / name);
  return bytes;
}

struct Output {
  const char* name;
  KruskalFormat format;
};

// The names of the temporary folder of one process, for all.
std::filesystem::path common_folder(const Comm& comm, const test::TemporaryFolder& own) {
  std::vector<char> name;
  if (comm.rank() == 0)
    for (const char c : (own / "").string()) name.push_back(c);
  comm.broadcast(name, 0);
  return std::string(name.begin(), name.end());
}

// All processes write, each its part of every factor.
template <class Real>
void expect_the_same_files_from_all_processes() {
  const Comm comm = Comm::world();
  const test::TemporaryFolder own_folder;
  const auto folder = common_folder(comm, own_folder);
  for (const int n : {1, 3, 5, 6}) {
    const auto x = distributed<Real>(comm, n);
    const auto own = own_rows(x);
    const auto gathered = test::gather_rows(x, own);
    const RowStream<Real> stream(x, own);
    for (const auto& [name, format] : {Output{"k", KruskalFormat::splatt},
                                       {"k.npz", KruskalFormat::npz},
                                       {"k.ktensor", KruskalFormat::ktensor}}) {
      int num_factors = 0;
      const auto failure = stream.serve(
          [&](const KruskalRows<Real>& rows, const WriteTogether& write_together) {
            EXPECT_EQ(bool(write_together), comm.size() > 1);
            const auto counting = [&](const FilePlace& place) {
              const auto pieces = write_together(place);
              num_factors += pieces ? 1 : 0;
              return pieces;
            };
            const auto expected_path = folder / (std::string("expected-") + name);
            io::write_kruskal(expected_path, test::with_all_rows(gathered, extents), format);
            io::write_kruskal(folder / name, rows, format, {}, io::Existing::replaced, {},
                              write_together ? WriteTogether(counting) : WriteTogether());
            EXPECT_EQ(all_bytes(folder / name, format) == all_bytes(expected_path, format), true)
                << name << ", case " << n;
          },
          io::kruskal_sink(folder / name));
      if (failure) std::rethrow_exception(failure);
      EXPECT_EQ(num_factors, comm.rank() == 0 && comm.size() > 1 ? x.order() : 0);
    }
  }
  comm.barrier();  // before the folder goes
}

TEST(RowStream, are_written_by_all_processes_as_by_one) {
  expect_the_same_files_from_all_processes<double>();
  expect_the_same_files_from_all_processes<float>();
}

// More rows than all processes together write at once: what follows begins where they have ended.
TEST(RowStream, are_written_by_all_processes_in_several_rounds) {
  const Comm comm = Comm::world();
  if (comm.size() == 1) return;
  const std::vector<Index> long_extents{rows_at_once(num_components) * (comm.size() + 1) + 77, 2, 3};
  const test::TemporaryFolder own_folder;
  const auto folder = common_folder(comm, own_folder);
  const auto x = distributed<float>(comm, 3, long_extents, 300);
  const auto own = own_rows(x);
  const auto gathered = test::gather_rows(x, own);
  const RowStream<float> stream(x, own);
  for (const auto& [name, format] :
       {Output{"k.npz", KruskalFormat::npz}, Output{"k", KruskalFormat::splatt}}) {
    const auto failure = stream.serve(
        [&](const KruskalRows<float>& rows, const WriteTogether& write_together) {
          io::write_kruskal(folder / "expected", test::with_all_rows(gathered, long_extents), format);
          io::write_kruskal(folder / name, rows, format, {}, io::Existing::replaced, {}, write_together);
          EXPECT_EQ(all_bytes(folder / name, format) == all_bytes(folder / "expected", format), true) << name;
          std::filesystem::remove_all(folder / "expected");
        },
        io::kruskal_sink(folder / name));
    if (failure) std::rethrow_exception(failure);
  }
  comm.barrier();  // before the folder goes
}

TEST(RowStream, leave_the_earlier_file_where_a_process_cannot_write) {
  const Comm comm = Comm::world();
  if (comm.size() == 1) return;
  const test::TemporaryFolder own_folder;
  const auto folder = common_folder(comm, own_folder);
  const auto x = distributed<double>(comm, 5);
  const RowStream<double> stream(x, own_rows(x));
  const auto count_files = [&] {
    return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  };
  for (const auto& [name, format] :
       {Output{"k.npz", KruskalFormat::npz}, Output{"k.ktensor", KruskalFormat::ktensor}}) {
    auto sink = io::kruskal_sink(folder / name);
    const auto write = sink.write;
    sink.write = [&](Index offset, std::string_view bytes) {
      if (comm.rank() == comm.size() - 1 && offset > 100000)
        throw Error(Errc::resource, "no space left on the device");
      write(offset, bytes);
    };
    std::string before;
    if (comm.rank() == 0) {
      io::write_kruskal(folder / name, Kruskal<double>{{1}, {Matrix<double>(2, 1), Matrix<double>(1, 1)}},
                        format);
      before = test::contents(folder / name);
    }
    const auto num_files = count_files();
    comm.barrier();

    const auto failure = stream.serve(
        [&](const KruskalRows<double>& rows, const WriteTogether& write_together) {
          io::write_kruskal(folder / name, rows, format, {}, io::Existing::replaced, {}, write_together);
        },
        sink);

    EXPECT_EQ(failure != nullptr, comm.rank() == 0);
    if (comm.rank() == 0) {
      EXPECT_THROW(std::rethrow_exception(failure), Error);
      EXPECT_EQ(test::contents(folder / name), before);
      EXPECT_EQ(count_files(), num_files) << "a temporary file is left";
    }
    comm.barrier();
  }
}

// As where the file is on a disk of another machine.
TEST(RowStream, are_written_by_one_process_where_another_has_no_such_file) {
  const Comm comm = Comm::world();
  const test::TemporaryFolder folder;
  const auto x = distributed<double>(comm, 3);
  const auto gathered = test::gather_rows(x, own_rows(x));
  for (const auto& [name, format] :
       {Output{"k.npz", KruskalFormat::npz}, Output{"k.ktensor", KruskalFormat::ktensor}}) {
    auto sink = io::kruskal_sink(folder / name);
    const auto open = sink.open;
    sink.open = [&](const std::string& file) { return comm.rank() != comm.size() - 1 && open(file); };
    const auto failure =
        RowStream<double>(x, own_rows(x))
            .serve(
                [&](const KruskalRows<double>& rows, const WriteTogether& write_together) {
                  io::write_kruskal(folder / "expected", test::with_all_rows(gathered, extents), format);
                  io::write_kruskal(folder / name, rows, format, {}, io::Existing::replaced, {},
                                    write_together);
                  EXPECT_EQ(test::contents(folder / name) == test::contents(folder / "expected"), true)
                      << name;
                },
                sink);
    EXPECT_EQ(failure, nullptr);
  }
}

template <class Real>
void expect_files_of_the_whole_model() {
  const Comm comm = Comm::world();
  const test::TemporaryFolder folder;
  for (const int n : {1, 3, 5, 6}) {  // coarse, fine and medium, some modes replicated
    const auto x = distributed<Real>(comm, n);
    const auto own = own_rows(x);
    const auto gathered = test::gather_rows(x, own);
    int num_runs = 0;
    const auto failure = RowStream<Real>(x, own).serve([&](const KruskalRows<Real>& rows) {
      ++num_runs;
      const auto whole = test::with_all_rows(gathered, extents);
      for (const auto& [name, format] : {Output{"k", KruskalFormat::splatt},
                                         {"k.npz", KruskalFormat::npz},
                                         {"k.ktensor", KruskalFormat::ktensor},
                                         {"k.ktensor.gz", KruskalFormat::ktensor}}) {
        if (std::string(name).ends_with(".gz") && n != 5) continue;  // slow
        io::write_kruskal(folder / (std::string("expected-") + name), whole, format);
        io::write_kruskal(folder / name, rows, format);
        const auto expected = all_bytes(folder / (std::string("expected-") + name), format);
        EXPECT_EQ(all_bytes(folder / name, format) == expected, true) << name << ", case " << n;
        EXPECT_GT(expected.size(), 100000U);
      }
      for (int m = 0; m < x.order(); ++m)
        EXPECT_EQ(rows.num_rows[m], std::ssize(gathered.rows[m])) << "case " << n;
    });
    EXPECT_EQ(failure, nullptr);
    EXPECT_EQ(num_runs, comm.rank() == 0 ? 1 : 0);
  }
}

TEST(RowStream, are_written_as_the_whole_model_is) {
  expect_files_of_the_whole_model<double>();
}

TEST(RowStream, are_written_as_the_whole_model_is_in_single_precision) {
  expect_files_of_the_whole_model<float>();
}

TEST(RowStream, come_some_at_a_time_and_each_once) {
  const Comm comm = Comm::world();
  const auto x = distributed<double>(comm, 5);
  const auto gathered = test::gather_rows(x, own_rows(x));
  const auto failure = RowStream<double>(x, own_rows(x)).serve([&](const KruskalRows<double>& rows) {
    for (int m = 0; m < x.order(); ++m) {
      Array<Index> seen;
      for_each_block<double>(rows, m, [&](const RowBlock<double>& block) {
        seen.insert(seen.end(), block.rows.begin(), block.rows.end());
      });
      EXPECT_EQ(seen, gathered.rows[m]);

      constexpr Index at_once = 16;
      const Index expected = (std::ssize(seen) + at_once - 1) / at_once;
      seen.clear();
      Index num_stretches = 0;
      for (Index first = 0, last = 0; first < rows.extents[m]; first = last, ++num_stretches) {
        last = rows.end_of(m, first, at_once);
        ASSERT_GT(last, first);
        const auto block = rows.read(m, first, last);
        EXPECT_LE(std::ssize(block.rows), at_once);
        seen.insert(seen.end(), block.rows.begin(), block.rows.end());
      }
      EXPECT_EQ(seen, gathered.rows[m]);
      EXPECT_GE(num_stretches, expected);
      const Index of_each = at_once / comm.size();  // of the one that ends a stretch
      EXPECT_LE(num_stretches, std::ssize(seen) / of_each + 1);
      if (comm.size() == 1) {
        EXPECT_EQ(num_stretches, expected);
      }
    }
  });
  EXPECT_EQ(failure, nullptr);
}

TEST(RowStream, let_the_others_go_when_the_reader_fails) {
  const Comm comm = Comm::world();
  const auto x = distributed<double>(comm, 2);
  const RowStream<double> served(x, own_rows(x));
  const auto failure = served.serve([](const KruskalRows<double>& rows) {
    rows.read(0, 0, 10);
    throw Error(Errc::io, "the disk is full");
  });
  EXPECT_EQ(failure != nullptr, comm.rank() == 0);
  if (failure) {
    EXPECT_THROW(std::rethrow_exception(failure), Error);
  }
  EXPECT_EQ(comm.all_reduce(Index(1)), comm.size());
}

}  // namespace
}  // namespace polyad
