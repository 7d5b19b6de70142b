#include "polyad/io/tensors/coordinate_file.hpp"

#include <gtest/gtest.h>

#include <map>

#include "polyad/base/error.hpp"
#include "polyad/base/random.hpp"
#include "polyad/io/bytes/output_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

using Unknown = IndexSpace::Unknown;
using Lines = std::vector<std::vector<double>>;  // indices, and the value if there is one

const std::vector<ModeLabels> names{{"user", {"ann", "bob", "cy", "bob"}}, {"item", {"x", "y"}}};

class CoordinateFileTest : public testing::Test {
 protected:
  ReadOptions options_for(const IndexSpace& space) const {
    ReadOptions options;
    options.space = &space;
    options.slab_bytes = slab_bytes_;
    return options;
  }
  Lines lines(const CoordinateFile& file) {
    Lines result;
    num_batches_ = 0;
    file.for_each_batch([&](const CoordinateBatch& batch) {
      ++num_batches_;
      EXPECT_TRUE(batch.values.empty() || Index(batch.values.size()) == batch.size());
      for (Index z = 0; z < batch.size(); ++z) {
        result.emplace_back();
        for (const auto& column : batch.indices) result.back().push_back(double(column[z]));
        if (file.has_values()) result.back().push_back(batch.values[z]);
      }
    });
    EXPECT_EQ(Index(result.size()), file.num_coordinates());
    return result;
  }
  Lines read(const std::string& text, const IndexSpace& space) {
    return lines(CoordinateFile(folder_.write("x", text), options_for(space)));
  }
  std::string fault(const std::string& text, const IndexSpace& space) {
    return fault(folder_.write("x", text), options_for(space));
  }
  std::string fault(const std::filesystem::path& path, const ReadOptions& options) {
    try {
      CoordinateFile(path, options);
    } catch (const Error& e) {
      const std::string what = e.what(), prefix = (folder_ / "").string();
      return what.starts_with(prefix) ? what.substr(prefix.size()) : what;
    }
    return "no error";
  }

  test::TemporaryFolder folder_;
  Index slab_bytes_ = Index(1) << 26;
  int num_batches_ = 0;
};

TEST_F(CoordinateFileTest, the_number_of_fields_tells_whether_there_are_values) {
  const IndexSpace three({4, 5, 6}, {}, Unknown::fault), two({4, 5}, {}, Unknown::fault);
  EXPECT_EQ(read("1 2 3\n4 5 6\n", three), (Lines{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(read("1 2 3 0.5\n4 5 6 -1\n", three), (Lines{{0, 1, 2, 0.5}, {3, 4, 5, -1}}));
  EXPECT_EQ(read("1 2\n4 5\n", two), (Lines{{0, 1}, {3, 4}}));
  EXPECT_EQ(read("1 2 3\n4 5 6\n", two), (Lines{{0, 1, 3}, {3, 4, 6}}));
  EXPECT_EQ(
      fault("# c\n1 2\n", three),
      "x:2: expected 3 indices, with or without a value behind, as the model has 3 modes; found 2 fields");
  EXPECT_EQ(
      fault("1 2 3 4 5\n", three),
      "x:1: expected 3 indices, with or without a value behind, as the model has 3 modes; found 5 fields");
  EXPECT_EQ(fault("1 2 3\n1 2 3 4\n", three),
            "x:2: expected 3 fields as on line 1, found 4: '4' after the value");
}

TEST_F(CoordinateFileTest, two_numbers_are_a_header_only_when_triples_follow) {
  const IndexSpace two({4, 5}, {}, Unknown::fault);
  EXPECT_EQ(read("2 1\n4 5\n", two), (Lines{{1, 0}, {3, 4}}));
  EXPECT_EQ(read("2 1\n4 5\n3 3\n", two), (Lines{{1, 0}, {3, 4}, {2, 2}}));
  EXPECT_EQ(read("2 1\n4 5\n3 3 7\n", two), (Lines{{2, 2, 7}}));
  EXPECT_EQ(read("2\n4 5\n3 3 7\n", two), (Lines{{2, 2, 7}}));
}

TEST_F(CoordinateFileTest, tabs_and_large_numbers_are_ratings_only_for_a_matrix) {
  const IndexSpace two({4, 5}, {}, Unknown::fault), three({4, 5, 6}, {}, Unknown::fault);
  EXPECT_EQ(read("1\t2\t3\t881250949\n", two), (Lines{{0, 1, 3}}));
  EXPECT_TRUE(CoordinateFile(folder_ / "x", options_for(two)).notes().empty());
  EXPECT_EQ(read("1\t2\t3\t881250949\n", three), (Lines{{0, 1, 2, 881250949}}));
  EXPECT_EQ(read("1::2\n4::5\n", two), (Lines{{0, 1}, {3, 4}}));
  EXPECT_EQ(fault("1::2\n4::5::3\n", two), "x:2: expected 2 fields as in the first line, found 3");
  EXPECT_EQ(fault("1::2::3\n", three), "x: its coordinates have 2 modes, the model has 3");
}

TEST_F(CoordinateFileTest, a_zero_anywhere_moves_every_index_and_every_limit) {
  const IndexSpace space({4, 5}, {}, Unknown::fault);
  for (const Index bytes : {1, 6, 1000}) {
    slab_bytes_ = bytes;
    EXPECT_EQ(read("3 4\n1 0\n2 2\n", space), (Lines{{3, 4}, {1, 0}, {2, 2}}));
    EXPECT_EQ(
        fault("1 5\n2 2\n2 0\n", space),
        "x:1: index '5' of mode 2 is beyond the dimension 5 that the model states (the indices start at 0)");
  }
  const IndexSpace lenient({4, 5}, {}, Unknown::leave_out);
  EXPECT_EQ(read("1 5\n2 2\n2 0\n", lenient), (Lines{{2, 2}, {2, 0}}));
}

TEST_F(CoordinateFileTest, what_the_model_does_not_have_is_a_fault_or_left_out) {
  const std::string text = "1 2 5\n1 6 6\n5 1 7\n4 5 8\n";
  const IndexSpace strict({4, 5}, {}, Unknown::fault), lenient({4, 5}, {}, Unknown::leave_out);
  EXPECT_EQ(fault(text, strict), "x:2: index '6' of mode 2 is beyond the dimension 5 that the model states");
  const CoordinateFile file(folder_.write("x", text), options_for(lenient));
  EXPECT_EQ(lines(file), (Lines{{0, 1, 5}, {3, 4, 8}}));
  EXPECT_EQ(file.num_unknown(), 2);
  EXPECT_EQ(fault("sptensor\n2\n9 9\n1\n7 7 1\n", strict),
            "x:5: index '7' of mode 1 is beyond the dimension 4 that the model states");
  EXPECT_EQ(fault("sptensor\n3\n9 9 9\n1\n7 7 1 1\n", strict),
            "x: its coordinates have 3 modes, the model has 2");
  EXPECT_EQ(fault("sptensor\n2\n4 5\n2\n1 1 1\n", strict),
            "x: the header announces 2 nonzeros, the file has 1");
}

TEST_F(CoordinateFileTest, binaries_and_dense_texts_are_checked_too) {
  const IndexSpace strict({2, 1}, {}, Unknown::fault), lenient({2, 1}, {}, Unknown::leave_out);
  const std::string dense = "matrix\n2\n2 2\n1 2\n3 4\n";
  EXPECT_EQ(fault(dense, strict),
            "x: entry 2: index 2 of mode 2 (from 1) is beyond the dimension 1 that the model states");
  EXPECT_EQ(read(dense, lenient), (Lines{{0, 0, 1}, {1, 0, 3}}));
}

TEST_F(CoordinateFileTest, dense_texts_have_a_line_for_every_cell_also_where_it_is_zero) {
  const IndexSpace matrix({2, 2}, {}, Unknown::fault), tensor({2, 1, 2}, {}, Unknown::fault),
      smaller({2, 1}, {}, Unknown::leave_out);
  EXPECT_EQ(read("matrix\n2\n2 2\n0 2\n3 0\n", matrix), (Lines{{0, 0, 0}, {0, 1, 2}, {1, 0, 3}, {1, 1, 0}}));
  EXPECT_EQ(read("tensor\n3\n2 1 2\n0\n1\n0\n0\n", tensor),
            (Lines{{0, 0, 0, 0}, {1, 0, 0, 1}, {0, 0, 1, 0}, {1, 0, 1, 0}}));
  const CoordinateFile file(folder_.write("x", "matrix\n2\n2 2\n0 0\n3 0\n"), options_for(smaller));
  EXPECT_EQ(lines(file), (Lines{{0, 0, 0}, {1, 0, 3}}));
  EXPECT_EQ(file.num_unknown(), 2);
}

TEST_F(CoordinateFileTest, an_entry_of_a_symmetric_matrix_stands_for_two) {
  const IndexSpace space({3, 3}, {}, Unknown::fault);
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 2 5\n3 1 7\n", space),
            (Lines{{1, 1, 5}, {2, 0, 7}, {0, 2, 7}}));
  const IndexSpace narrow({3, 2}, {}, Unknown::fault), lenient({3, 2}, {}, Unknown::leave_out);
  const std::string text = "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 2 5\n3 1 7\n";
  EXPECT_EQ(
      fault(text, narrow),
      "x:4: index '3' of mode 1 is beyond the dimension 2 that the model, for the mirror image, states");
  EXPECT_EQ(read(text, lenient), (Lines{{1, 1, 5}, {2, 0, 7}}));
}

TEST_F(CoordinateFileTest, names_mean_what_the_model_says) {
  const IndexSpace space({4, 2}, names, Unknown::fault);
  EXPECT_EQ(read("user,item\ncy,y\nann,x\n", space), (Lines{{2, 1}, {0, 0}}));
  EXPECT_EQ(read("user,item,stars\ncy,y,3\n", space), (Lines{{2, 1, 3}}));
  EXPECT_EQ(read("stars,item,user\n3,y,cy\n", space), (Lines{{2, 1, 3}}));  // by name
  EXPECT_EQ(read("id,item,user,value\n3,y,cy,7\n", space), (Lines{{2, 1, 7}}));
  EXPECT_EQ(read("who,what\ncy,y\n", space), (Lines{{2, 1}}));  // by number
  EXPECT_EQ(read("who,what,stars\ncy,y,4\n", space), (Lines{{2, 1, 4}}));
  EXPECT_EQ(read("user,item\n", space), Lines{});
  EXPECT_EQ(fault("user,item\ncy,y\ndan,y\n", space),
            "x:3: 'dan' in the column 'user' is no label of mode 1 of the model; skip_unknown leaves such "
            "lines out");
  EXPECT_EQ(fault("user,item\nbob,y\n", space),
            "x:2: 'bob' in the column 'user' names more than one index of mode 1 of the model");
  EXPECT_EQ(fault("a,b,c,d\n1,2,3,4\n", space),
            "x: csv needs columns to say which columns are the modes and which is the value; this file has "
            "'a', 'b', 'c', 'd'");
  const IndexSpace lenient({4, 2}, names, Unknown::leave_out);
  const CoordinateFile file(folder_.write("x", "user,item\ncy,y\ndan,y\ncy,z\nann,x\n"),
                            options_for(lenient));
  EXPECT_EQ(lines(file), (Lines{{2, 1}, {0, 0}}));
  EXPECT_EQ(file.num_unknown(), 2);
}

TEST_F(CoordinateFileTest, a_mode_without_labels_has_indices_in_csv_too) {
  const IndexSpace space({4, 2}, {names[0], {}}, Unknown::fault);
  EXPECT_EQ(read("user,mode2\ncy,2\n", space), (Lines{{2, 1}}));
  EXPECT_EQ(fault("user,mode2\ncy,3\n", space),
            "x:2: '3' in the column 'mode2' is beyond the dimension 2 of the model");
  EXPECT_EQ(fault("user,mode2\ncy,q\n", space),
            "x:2: 'q' in the column 'mode2' is not a whole number from 1 on");
  auto options = options_for(space);
  options.columns = parse_coordinate_columns("user,when:day", "", 2);
  EXPECT_EQ(fault(folder_.write("x", "user,when\ncy,2014-04-01\n"), options),
            "the column 'when' holds times, but mode 2 of the model has no labels");
}

TEST_F(CoordinateFileTest, times_fall_into_the_bins_of_the_model) {
  const IndexSpace space({4, 2}, {names[0], {"when", {"2014-04-01", "2014-04-02"}}}, Unknown::fault);
  auto options = options_for(space);
  options.columns = parse_coordinate_columns("user,when:day,n", "", 2);
  const auto path = folder_.write("x", "user,when,n\ncy,2014-04-02T09:00,8\n");
  EXPECT_EQ(lines(CoordinateFile(path, options)), (Lines{{2, 1, 8}}));
}

// However it is cut, stored or compressed, a file gives the same lines in the same order.
TEST_F(CoordinateFileTest, batches_make_no_difference) {
  const IndexSpace space({400, 300, 20}, {}, Unknown::fault);
  const Random random(5, 0);
  std::string text = "# dims: 400 300 20\n";
  Lines expected;
  for (std::uint64_t z = 0; z < 3000; ++z) {
    expected.push_back({double(random.below(400, 4 * z)), double(random.below(300, 4 * z + 1)),
                        double(random.below(20, 4 * z + 2)), double(random.below(1000, 4 * z + 3)) / 8});
    const auto& line = expected.back();
    text += std::to_string(int(line[0]) + 1) + " " + std::to_string(int(line[1]) + 1) + " " +
            std::to_string(int(line[2]) + 1) + " " + std::to_string(line[3]) + "\n" +
            (z % 7 == 0 ? "\n# c\n" : "");
  }
  for (const Index bytes : {100, 1000, 50000, 1 << 30}) {
    slab_bytes_ = bytes;
    EXPECT_EQ(read(text, space), expected);
    EXPECT_EQ(num_batches_ > 1, bytes <= 50000);
  }
  OutputFile packed(folder_ / "x.gz", OutputFile::Compression::gzip);
  packed.write(text);
  packed.commit();
  EXPECT_EQ(lines(CoordinateFile(folder_ / "x.gz", options_for(space))), expected);
  slab_bytes_ = 500;
  EXPECT_EQ(fault(text + "401 1 1 1\n", space).substr(0, 54),
            "x:3860: index '401' of mode 1 is beyond the dimension ");
}

// A rule for duplicates leaves the first line of every cell, with the value of all of them.
TEST_F(CoordinateFileTest, lines_of_a_cell_become_one_however_the_file_is_cut) {
  const IndexSpace space({30, 9}, {}, Unknown::leave_out);
  const Random random(3, 0);
  std::string text;
  std::map<std::vector<double>, CellValue> cells;
  std::vector<std::vector<double>> order;
  Index num_lines = 0;
  for (std::uint64_t z = 0; z < 900; ++z) {
    const std::vector<double> cell{double(random.below(31, 3 * z)), double(random.below(9, 3 * z + 1))};
    const double value = double(random.below(1000, 3 * z + 2)) / 8;
    text += std::to_string(int(cell[0]) + 1) + " " + std::to_string(int(cell[1]) + 1) + " " +
            std::to_string(value) + "\n";
    if (cell[0] > 29) continue;  // the model does not have it
    ++num_lines;
    if (!cells.contains(cell)) order.push_back(cell);
    cells[cell].add(value);
  }
  const auto path = folder_.write("x", text);
  for (const auto rule : all_duplicate_rules()) {
    if (rule == Duplicates::refuse) continue;
    Lines expected;
    for (const auto& cell : order) expected.push_back({cell[0], cell[1], cells[cell].combined(rule)});
    for (const Index bytes : {20, 1000, 1 << 30}) {
      slab_bytes_ = bytes;
      const CoordinateFile file(path, options_for(space), rule);
      EXPECT_EQ(lines(file), expected) << to_string(rule) << " " << bytes;
      EXPECT_EQ(lines(file), expected);  // a second pass is as the first
      EXPECT_EQ(file.num_duplicates(), num_lines - Index(order.size()));
    }
  }
  const CoordinateFile refused(path, options_for(space), Duplicates::refuse);
  EXPECT_EQ(refused.num_duplicates(), num_lines - Index(order.size()));
  EXPECT_EQ(Index(lines(refused).size()), num_lines);
  EXPECT_EQ(
      lines(CoordinateFile(folder_.write("y", "1 1 5\n2 2 7\n"), options_for(space), Duplicates::count)),
      (Lines{{0, 0, 1}, {1, 1, 1}}));
  EXPECT_EQ(
      lines(CoordinateFile(folder_.write("y", "1 1\n1 1\n"), options_for(space), Duplicates::sum)).size(),
      2U);
}

TEST(CoordinateColumns, may_leave_out_the_value) {
  const auto value = [](const char* columns, const char* column, int order) {
    return parse_coordinate_columns(columns, column, order).value;
  };
  const auto fault = [](const char* columns, const char* column, int order) -> std::string {
    try {
      parse_coordinate_columns(columns, column, order);
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(value("a,b", "", 2), "");
  EXPECT_EQ(value("a,b,c", "", 2), "c");
  EXPECT_EQ(value("a,b,time", "", 2), "");
  EXPECT_EQ(value("a,b,c,timestamp", "", 2), "c");
  EXPECT_EQ(value("a,b", "v", 2), "v");
  EXPECT_EQ(fault("a,b,c,d", "", 2),
            "columns names 4 modes, the model has 2; the value may follow them, or be named by value");
  EXPECT_EQ(fault("a,b,c", "v", 2),
            "columns names 3 modes, the model has 2; the value may follow them, or be named by value");
  EXPECT_EQ(fault("a,b", "1", 2),
            "value 1 counts lines; here it names the column to compare with, if there is one");
}

}  // namespace
}  // namespace polyad::io
