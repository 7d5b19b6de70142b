#include "polyad/tasks/save.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "polyad/tasks/load.hpp"
#include "polyad/tensor/sort.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/shared_folder.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

std::vector<ModeLabels> some_labels(const SparseTensor<double>& x) {
  std::vector<ModeLabels> labels(std::size_t(x.order()));
  labels[1].name = "team";
  for (Index i = 0; i < x.extent(1); ++i) labels[1].labels.push_back("team " + std::to_string(i));
  return labels;
}

// Whatever share of the nonzeros each process has, the file holds all of them, and its labels.
TEST(SaveTensor, ManyProcessesWriteOneFile) {
  const Context context(Comm::world());
  const Comm& comm = context.comm();
  const test::SharedFolder folder(comm);
  auto whole = test::random_tensor({7, 5, 9}, 60, 3);
  sort_nonzeros(whole, natural_mode_order(3));
  merge_duplicates(whole);
  const auto labels = some_labels(whole);
  for (const std::string name : {"x.tns", "y.tns.gz", "z.ptb"}) {
    const auto x = make_tensor(test::share_of(whole, comm), labels);
    const auto files = save(context, x, folder / name);
    const bool is_beside = name.find(".tns") != std::string::npos;
    EXPECT_EQ(std::ssize(files), is_beside && comm.rank() == 0 ? 1 : 0) << name;
    auto alone =
        load(Context::serial(), folder / name, {.dims = is_beside ? whole.extents() : std::vector<Index>()});
    sort_nonzeros(alone.tensor, natural_mode_order(3));
    ASSERT_EQ(alone.tensor.num_nonzeros(), whole.num_nonzeros()) << name;
    EXPECT_TRUE(std::ranges::equal(alone.tensor.values(), whole.values())) << name;
    EXPECT_EQ(alone.labels[1].labels.front(), "team 0") << name;
    comm.barrier();
  }
  try {
    save(context, make_tensor(test::share_of(whole, comm)), folder / "x.tns",
         {.existing = Existing::refused});
    ADD_FAILURE() << "replaced a file";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_option);
  }
  EXPECT_THROW(save(context, make_tensor(test::share_of(whole, comm)), folder / "x.unknown"), Error);
}

TEST(SaveText, ProcessZeroWrites) {
  const Context context(Comm::world());
  const test::SharedFolder folder(context.comm());
  save_text(context, "a result\n", folder / "result.json");
  EXPECT_EQ(test::contents(folder / "result.json"), "a result\n");
  EXPECT_THROW(save_text(context, "a result\n", folder / "none/result.json"), Error);
}

}  // namespace
}  // namespace polyad
