// Reads the real data that lies beside a checkout; skipped where it does not.

#include <gtest/gtest.h>

#include <array>

#include "polyad/base/error.hpp"
#include "polyad/io/models/label_files.hpp"
#include "polyad/io/tensors/read_tensor.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

using Dims = std::vector<Index>;

class SharedData : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(test::shared_data())) GTEST_SKIP() << test::no_shared_data;
  }
  static LoadedTensor read(const std::string& name, const ReadOptions& options = {}) {
    return read_tensor(test::shared_data() / name, options);
  }
  static std::string fault(const std::string& name) {
    try {
      read(name);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::bad_input);
      return std::string(e.what()).substr((test::shared_data() / "").string().size());
    }
    return "no error";
  }
};

TEST_F(SharedData, tensors_have_the_dims_and_nonzeros_that_their_readme_names) {
  struct Case {
    std::string name;
    Dims dims;
    Index nonzeros;
  };
  for (const auto& [name, dims, nonzeros] :
       std::vector<Case>{{"tensors/uber-2014-apr.tns.gz", {30, 24, 659, 1086}, 416'744},
                         {"tensors/nycflights13/nycflights13.tns.gz", {365, 16, 3, 105, 25}, 318'818},
                         {"kg/codex-s/codex-s.tns.gz", {2034, 42, 2032}, 36'543},
                         {"kg/nations/nations.tns.gz", {14, 56, 14}, 2'024},
                         {"ratings/movietweetings-100K.ratings.dat.gz", {16'554, 10'506}, 100'000},
                         {"ratings/un_votes/un_votes.tns.gz", {200, 6'203}, 870'109},
                         {"dense/aminoacid.sptensor.txt.gz", {5, 201, 61}, 61'305}}) {
    const auto loaded = read(name);
    EXPECT_EQ(loaded.tensor.extents(), dims) << name;
    EXPECT_EQ(loaded.tensor.num_nonzeros(), nonzeros) << name;
  }
}

TEST_F(SharedData, every_dialect_reads_as_its_writer_meant) {
  struct Case {
    std::string name;
    TensorFormat format;
    Dims dims;
    Index nonzeros;
    Dims last;  // coordinates of the last nonzero, from 0
    double value;
  };
  for (const auto& [name, format, dims, nonzeros, last, value] :
       std::vector<Case>{{"splatt-small.tns", TensorFormat::tns, {2, 3, 2}, 6, {1, 0, 0}, 4},
                         {"splatt-small4.tns", TensorFormat::tns, {2, 2, 3, 3}, 8, {0, 0, 1, 1}, 1},
                         {"splatt-small4_zeroidx.tns", TensorFormat::tns, {3, 3, 4, 3}, 8, {1, 1, 2, 1}, 1},
                         {"splatt-med.tns.gz", TensorFormat::tns, {}, 100'000, {}, 0},
                         {"splatt-med4.tns.gz", TensorFormat::tns, {}, 100'000, {}, 0},
                         {"splatt-med5.tns.gz", TensorFormat::tns, {}, 100'000, {}, 0},
                         {"hiparti-3d_7.tns", TensorFormat::hiparti, {4, 4, 3}, 9, {3, 0, 1}, 5},
                         {"hiparti-4d_3_16.tns", TensorFormat::tns, {3, 3, 3, 3}, 16, {1, 0, 0, 1}, 16},
                         {"genten-C_sptensor.txt", TensorFormat::sptensor, {4, 3, 2}, 5, {3, 0, 1}, 5},
                         {"pyttb-sptensor.tns", TensorFormat::sptensor, {5, 4, 3}, 18, {4, 3, 2}, 18},
                         {"pyttb-sptensor_0_based.tns", TensorFormat::sptensor, {5, 4, 3}, 18, {4, 3, 2}, 18},
                         {"pyttb-tensor.tns", TensorFormat::dense_tensor, {3, 3, 3}, 27, {2, 2, 2}, 27},
                         {"pyttb-matrix.tns", TensorFormat::dense_matrix, {4, 2}, 8, {3, 1}, 8}}) {
    const auto loaded = read("dialects/" + name);
    const auto& x = loaded.tensor;
    EXPECT_EQ(loaded.format, format) << name;
    EXPECT_EQ(x.num_nonzeros(), nonzeros) << name;
    if (dims.empty()) continue;
    EXPECT_EQ(x.extents(), dims) << name;
    for (int m = 0; m < x.order(); ++m) EXPECT_EQ(x.indices(m).back(), last[m]) << name;
    EXPECT_EQ(x.values().back(), value) << name;
  }
  EXPECT_EQ(read("dialects/pyttb-sptensor.tns").tensor, read("dialects/pyttb-sptensor_0_based.tns").tensor);
}

TEST_F(SharedData, invalid_dialects_are_refused_with_their_line) {
  EXPECT_EQ(fault("dialects/pyttb-invalid_dims.tns"),
            "dialects/pyttb-invalid_dims.tns:3: expected 2 dimensions, as the order says, found 3");
  EXPECT_EQ(fault("dialects/pyttb-invalid_type.tns"),
            "dialects/pyttb-invalid_type.tns:1: 'list' is neither a number nor a header that Polyad knows "
            "(sptensor, "
            "tensor, matrix, %%MatrixMarket, column names)");
  EXPECT_EQ(fault("dialects/pyttb-ktensor.tns"),
            "dialects/pyttb-ktensor.tns:1: holds a Kruskal tensor (factors), where a tensor's nonzeros were "
            "expected");
}

TEST_F(SharedData, labels_lie_beside_their_tensors) {
  const auto labels =
      find_labels(labels_of_tensor(test::shared_data() / "tensors/nycflights13/nycflights13.tns.gz"),
                  std::array<Index, 5>{365, 16, 3, 105, 25})
          .labels;

  EXPECT_TRUE(labels[0].empty());
  EXPECT_EQ(labels[1].name, "carrier");
  EXPECT_EQ(labels[1].labels.size(), 16);
  EXPECT_EQ(labels[3].labels.size(), 105);
}

}  // namespace
}  // namespace polyad::io
