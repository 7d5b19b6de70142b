#include "polyad/report/statistics_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace polyad::report {
namespace {

TensorStatistics example() {
  SparseTensor<double> x({4, 1000000});
  x.append(std::vector<Index>{0, 5}, 2);
  x.append(std::vector<Index>{0, 6}, -1);
  x.append(std::vector<Index>{3, 5}, 2);
  return compute_statistics(Comm::self(), x);
}

TEST(StatisticsReport, json_has_the_documented_keys) {
  const std::vector<ModeLabels> labels{{"who", {"a", "b", "c", "d"}}, {}};

  const auto json = statistics_json(example(), labels);

  EXPECT_EQ(json["order"], 2);
  EXPECT_EQ(json["dims"], (std::vector<Index>{4, 1000000}));
  EXPECT_EQ(json["nnz"], 3);
  EXPECT_DOUBLE_EQ(json["density"], 3.0 / 4e6);
  EXPECT_EQ(json["values"]["norm"], 3);
  EXPECT_EQ(json["modes"][0].dump(),
            R"({"name":"who","labelled":true,"length":4,"nonempty":2,"max":2,"mean":1.5,"histogram":[1,1]})");
  EXPECT_EQ(json["memory_bytes"]["coo"], 3 * 24);
}

TEST(StatisticsReport, numbers_are_easy_to_read) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(-1234567), "-1,234,567");
  EXPECT_EQ(with_commas(-123), "-123");
  EXPECT_EQ(counted(1, "fault"), "1 fault");
  EXPECT_EQ(counted(0, "fault"), "0 faults");
  EXPECT_EQ(counted_were(1, "row"), "1 row was");
  EXPECT_EQ(counted_were(2000, "row"), "2,000 rows were");
  EXPECT_EQ(dims_text(std::vector<Index>{3, 40, 5}), "3x40x5");
  const auto text = statistics_text(example(), std::vector<ModeLabels>(2));
  EXPECT_NE(text.find("4x1000000 tensor of order 2, 3 nonzeros"), std::string::npos) << text;
}

}  // namespace
}  // namespace polyad::report
