#include <fmt/chrono.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <array>

#include "polyad/base/error.hpp"
#include "polyad/base/random.hpp"
#include "polyad/io/tensors/labelled_text.hpp"
#include "polyad/io/tensors/read_tensor.hpp"
#include "polyad/io/text/field_splitter.hpp"
#include "polyad/io/text/time_text.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

LoadedTensor read(const std::string& text, const std::string& columns = "", const std::string& value = "") {
  const test::TemporaryFolder folder;
  ReadOptions options;
  if (!columns.empty()) options.columns = parse_columns(columns, value);
  return read_tensor(folder.write("x.csv", text), options);
}

std::string fault(const std::string& text, const std::string& columns = "", const std::string& value = "") {
  try {
    read(text, columns, value);
  } catch (const Error& e) {
    const std::string what = e.what();
    const auto at = what.find("x.csv");
    return at == std::string::npos ? what : what.substr(at);
  }
  return "no error";
}

using Strings = std::vector<std::string>;

// As one column of a line of a table.
std::string written(const std::string& name, bool is_quoted) {
  if (!is_quoted && name.find_first_of(",\"") == std::string::npos) return name;
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

TEST(Csv, quoted_and_plain_names_have_the_same_numbers) {
  const int threads_before = omp_get_max_threads();
  for (const int threads : {1, 2, 5}) {
    omp_set_num_threads(threads);
    std::string text = "who,what,value\n";
    std::vector<std::array<std::string, 2>> expected;
    for (Index line = 0; line < 3000; ++line) {
      const auto draw = [&](std::uint64_t stream, std::uint64_t bound) {
        return Random(std::uint64_t(threads), stream).below(bound, std::uint64_t(line));
      };
      const auto who = draw(0, 700), what = draw(1, 3);
      expected.push_back(
          {fmt::format("{}{}", who % 5 == 0 ? "a \"b\", " : "name ", who), fmt::format("{}\"", what)});
      text += fmt::format("{},{},{}\n", written(expected.back()[0], draw(2, 2) == 0),
                          written(expected.back()[1], true), line + 1);
    }
    const auto x = read(text, "who,what,value");
    ASSERT_EQ(x.tensor.num_nonzeros(), Index(expected.size()));
    for (Index i = 0; i < x.tensor.num_nonzeros(); ++i)
      for (int m = 0; m < 2; ++m)
        ASSERT_EQ(x.labels[m].labels[x.tensor.indices(m)[i]],
                  expected[std::size_t(x.tensor.values()[i]) - 1][m]);
  }
  omp_set_num_threads(threads_before);
}

TEST(Csv, usual_times_are_read_as_those_with_a_zone) {
  Index valid = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const auto draw = [&](std::uint64_t stream, std::uint64_t bound) {
      return Random(1, stream).below(bound, i);
    };
    auto text = fmt::format("{:04}-{:02}-{:02}{}{:02}:{:02}:{:02}", draw(0, 10000), draw(1, 14), draw(2, 33),
                            i % 2 == 0 ? 'T' : ' ', draw(3, 25), draw(4, 61), draw(5, 62));
    constexpr std::array<std::size_t, 14> digits{0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18};
    if (i % 7 == 0) text[digits[draw(6, digits.size())]] = "a/:"[i % 3];
    const auto bin = [](const std::string& time, ColumnKind kind) {
      return time_bin(time, kind, DateOrder::month_first);
    };
    for (const auto kind : {ColumnKind::hour, ColumnKind::day, ColumnKind::week, ColumnKind::month})
      ASSERT_EQ(bin(text, kind), bin(text + "Z", kind)) << text;
    valid += bin(text, ColumnKind::day).has_value() ? 1 : 0;
  }
  EXPECT_GT(valid, 10000);
}

TEST(Csv, names_become_indices_in_their_sorted_order) {
  const auto x = read("user,item,rating\nbob,tea,4\nann,coffee,2.5\nbob,coffee,1\n", "user,item,rating");

  EXPECT_EQ(x.labels[0], (ModeLabels{"user", {"ann", "bob"}}));
  EXPECT_EQ(x.labels[1], (ModeLabels{"item", {"coffee", "tea"}}));
  EXPECT_EQ(std::vector<Index>(x.tensor.indices(0).begin(), x.tensor.indices(0).end()),
            (std::vector<Index>{1, 0, 1}));
  EXPECT_EQ(std::vector<Index>(x.tensor.indices(1).begin(), x.tensor.indices(1).end()),
            (std::vector<Index>{1, 0, 0}));
  EXPECT_EQ(std::vector<double>(x.tensor.values().begin(), x.tensor.values().end()),
            (std::vector<double>{4, 2.5, 1}));
}

TEST(Csv, quotes_separators_and_column_order_are_understood) {
  const auto x = read("n;\"who\";what\r\n2;\"a;b\";\"say \"\"hi\"\"\"\r\n3; c ;d\r\n", "what,who,n");

  EXPECT_EQ(x.labels[0].labels, (Strings{"d", "say \"hi\""}));
  EXPECT_EQ(x.labels[1].labels, (Strings{"a;b", "c"}));
  EXPECT_EQ(x.tensor.values()[1], 3);
}

TEST(Csv, movielens_needs_no_telling_in_all_three_forms) {
  const auto csv = read("userId,movieId,rating,timestamp\n10,7,4.5,964982703\n9,0104257,3,964982704\n");
  const auto colons = read("10::7::4.5::964982703\n9::0104257::3::964982704\n");
  const auto tabs = read("10\t7\t4\t964982703\n9\t8\t3\t964982704\n");

  EXPECT_EQ(csv.labels[0].labels, (Strings{"9", "10"}));
  EXPECT_EQ(csv.labels[1].labels, (Strings{"7", "0104257"}));
  EXPECT_EQ(csv.tensor, colons.tensor);
  EXPECT_EQ(tabs.format, TensorFormat::movielens_tabs);
  EXPECT_EQ(tabs.tensor.extents(), (std::vector<Index>{2, 2}));
}

TEST(Csv, times_fall_into_bins) {
  EXPECT_EQ(time_label("1396310400", ColumnKind::hour), "2014-04-01T00");
  EXPECT_EQ(time_label("1396310400", ColumnKind::day), "2014-04-01");
  EXPECT_EQ(time_label("2014-04-01T13:05:00", ColumnKind::hour), "2014-04-01T13");
  EXPECT_EQ(time_label("2014-04-01 13:05", ColumnKind::month), "2014-04");
  EXPECT_EQ(time_label("2014-04-01T13:05:30.25Z", ColumnKind::hour), "2014-04-01T13");
  EXPECT_EQ(time_label("2014-12-29", ColumnKind::week), "2015-W01");  // a Monday
  EXPECT_EQ(time_label("2012-01-01", ColumnKind::week), "2011-W52");  // a Sunday
  for (const auto* text : {"",
                           "x",
                           "2014-04-01T13:x",
                           "2014-04-01T13:5",
                           "2014-13-01",
                           "2014-02-30",
                           "2014-04-01T25",
                           "-5",
                           "1e300",
                           "2014-04",
                           "nan",
                           "20141301",
                           "13/4/2014",
                           "4/1/14",
                           "4/1/2014 13 PM",
                           "4/1/2014 0:05 AM",
                           "4/1/2014 1:05 XM",
                           "1.13.2014",
                           "2014.4.1",
                           "1-4-2014",
                           "2014-04-01+02",
                           "2014-04-01T1:00 CET",
                           "2014-04-01T13:00+2",
                           "2014-04-01T13:00+25",
                           "2014-4-1",
                           "4/1/2014 ",
                           "4//2014",
                           "2014-04-01T13:00:00.5+01:75",
                           "0001-01-01T00:30+01:00",
                           "-1e9"})
    EXPECT_EQ(time_label(text, ColumnKind::day), "") << text;
  const auto x = read("u,t\na,2014-04-02\nb,2014-04-01\na,2014-04-02\n", "u,t:day", "1");
  EXPECT_EQ(x.labels[1].labels, (Strings{"2014-04-01", "2014-04-02"}));
  EXPECT_EQ(x.tensor.num_nonzeros(), 3);
}

TEST(Csv, times_are_written_in_many_ways) {
  for (const auto* text : {"2014-04-01T13:05",
                           "2014-04-01 13:05:30",
                           "2014-04-01T13",
                           "2014/4/1 13:05",
                           "4/1/2014 13:05:00",
                           "04/01/2014 1:05 PM",
                           "4/1/2014 1:05:30pm",
                           "1.4.2014 13:05",
                           "01.04.2014 13:05",
                           "2014-04-01T15:05+02:00",
                           "2014-04-01T15:05+0200",
                           "2014-04-01 08:05:00-05",
                           "2014-04-01 13:05 UTC",
                           "2014-04-01T13:05:00.123456Z",
                           "2014-04-01 13:05:00 +0000",
                           "2014-04-01T18:35:00+05:30",
                           "1396357500",
                           "1396357500000",
                           "1396357500123456",
                           "1396357500123456789",
                           "1396357500.75"})
    EXPECT_EQ(time_label(text, ColumnKind::hour), "2014-04-01T13") << text;
  for (const auto* text :
       {"20140401", "4/1/2014", "1.4.2014", "2014/04/01", "2014-04-01", "4/1/2014 12:59 AM"})
    EXPECT_EQ(time_label(text, ColumnKind::hour), "2014-04-01T00") << text;
  EXPECT_EQ(time_label("4/1/2014 12:05 PM", ColumnKind::hour), "2014-04-01T12");
  EXPECT_EQ(time_label("2014-01-01T00:30+01:00", ColumnKind::hour), "2013-12-31T23");
  EXPECT_EQ(time_label("2013-12-31T23:30-01:00", ColumnKind::week), "2014-W01");
  EXPECT_EQ(time_label("1960-01-01T00:30+01:00", ColumnKind::day), "1959-12-31");
  EXPECT_EQ(time_label("0", ColumnKind::day), "1970-01-01");
}

TEST(Csv, bins_have_no_gaps) {
  const auto x = read("u,t\na,2014-02-27\nb,2014-03-02T12:00\n", "u,t:day", "1");
  EXPECT_EQ(x.labels[1].labels, (Strings{"2014-02-27", "2014-02-28", "2014-03-01", "2014-03-02"}));
  EXPECT_EQ(x.tensor.extents(), (std::vector<Index>{2, 4}));
  EXPECT_EQ(x.tensor.indices(1)[1], 3);
  const auto weeks = read("u,t\na,2014-12-20\nb,2015-01-07\n", "u,t:week", "1");
  EXPECT_EQ(weeks.labels[1].labels, (Strings{"2014-W51", "2014-W52", "2015-W01", "2015-W02"}));
  const auto of_day = read("u,t\na,2014-12-20T07:10\nb,2015-01-07T22:59\n", "u,t:hour-of-day", "1");
  EXPECT_EQ(of_day.tensor.extent(1), 24);
  EXPECT_EQ(of_day.labels[1].labels[7], "07");
  EXPECT_EQ(of_day.tensor.indices(1)[1], 22);
  const auto days = read("u,t\na,2014-12-20\nb,1969-12-31\n", "u,t:weekday", "1");
  EXPECT_EQ(days.labels[1].labels.front(), "Monday");
  EXPECT_EQ(days.tensor.extent(1), 7);
  EXPECT_EQ(days.tensor.indices(1)[0], 5);
  EXPECT_EQ(days.tensor.indices(1)[1], 2);
  const auto months = read("u,t\na,2014-12-20\nb,2015-01-07\n", "u,t:month-of-year", "1");
  EXPECT_EQ(months.tensor.extent(1), 12);
  EXPECT_EQ(months.tensor.indices(1)[0], 11);
}

TEST(Csv, bins_follow_each_other) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Random random(seed, 0);
    const Index first = Index(random.below(4000000000, 0)) - 2000000000,
                hours = Index(random.below(20000, 1));
    for (const auto kind : {ColumnKind::hour, ColumnKind::day, ColumnKind::week, ColumnKind::month}) {
      Strings all;
      for (Index hour = 0; hour <= hours; ++hour) {
        const std::chrono::sys_seconds moment(std::chrono::seconds(first + hour * 3600));
        const auto label = time_label(fmt::format("{:%Y-%m-%dT%H:%M}", fmt::gmtime(moment)), kind);
        if (all.empty() || all.back() != label) all.push_back(label);
      }
      EXPECT_EQ(complete_bins({all.back(), all.front()}, kind, "t"), all);
    }
  }
  EXPECT_EQ(complete_bins({}, ColumnKind::day, "t"), Strings{});
  EXPECT_THROW(complete_bins({"0500-01-01T00", "2014-01-01T00"}, ColumnKind::hour, "t"), Error);
}

TEST(Csv, index_columns_are_numbers_as_they_are) {
  const auto x = read("a,b,c\n5,x,1\n2,y,2\n", "a:index,b,c");

  EXPECT_EQ(x.tensor.extents(), (std::vector<Index>{5, 2}));
  EXPECT_TRUE(x.labels[0].empty());
  EXPECT_EQ(x.tensor.indices(0)[0], 4);
}

TEST(Csv, faults_are_told_with_their_line) {
  EXPECT_EQ(fault("a,b,c\n1,2\n", "a,b,c"), "x.csv:2: expected 3 fields as in the header, found 2");
  EXPECT_EQ(fault("a,b,c\n1,2,z\n", "a,b,c"), "x.csv:2: value 'z' is not a number");
  EXPECT_EQ(fault("a,b,c\n1,2,inf\n", "a,b,c"), "x.csv:2: value 'inf' is not finite");
  EXPECT_EQ(fault("a,b,c\n1,,3\n", "a,b,c"), "x.csv:2: the column 'b' is empty");
  EXPECT_EQ(fault("a,b,c\n1,\"2,3\n", "a,b,c"),
            "x.csv:2: a quoted field is not closed on its line; multiline reads fields with line breaks");
  EXPECT_EQ(fault("a,b,c\n1,2,3\n", "a,d,c"), "x.csv: has no column 'd'; its columns are 'a', 'b', 'c'");
  EXPECT_EQ(
      fault("a,\"b, d\",c\n1,2,3\n", "a,d,c"),
      "x.csv: has no column 'd'; its columns are 'a', 'b, d', 'c'; columns names 'b, d', which has a comma, "
      "#2");
  EXPECT_EQ(
      fault("a,b,c\n1,2,3\n", "a,b:weeks,c"),
      "x.csv: the column 'b' has no bin 'weeks' (did you mean week?); known are label, index, hour, day, "
      "week, month, hour-of-day, weekday, month-of-year, width=NUMBER, quantiles=NUMBER");
  EXPECT_EQ(fault("a,b,c\n1,2,3\n", "a,d:weeks,c"),
            "x.csv: has no column 'd:weeks'; its columns are 'a', 'b', 'c'");
  EXPECT_EQ(fault("a;b;c\n1;2;3,5\n", "a,b,c"),
            "x.csv:2: value '3,5' is not a number (decimal_comma reads it)");
  EXPECT_EQ(fault("a;b;c\n1;2;3,5,1\n", "a,b,c"), "x.csv:2: value '3,5,1' is not a number");
  EXPECT_EQ(fault("\xFF\xFE"
                  "a",
                  "a,b,c"),
            "x.csv: is a text in UTF-16; iconv -f UTF-16 -t UTF-8 makes one that can be read");
  EXPECT_EQ(fault("\xFE\xFF"
                  "ab",
                  "a,b,c"),
            "x.csv: is a text in UTF-16; iconv -f UTF-16 -t UTF-8 makes one that can be read");
  EXPECT_EQ(fault("a,b,c\n1,2,3\n"),
            "x.csv: csv needs columns to say which columns are the modes and which is the value; this file "
            "has 'a', 'b', 'c'");
  EXPECT_EQ(fault("1,2,3\n", ""),
            "x.csv: csv needs columns to say which columns are the modes and which is the value; this file "
            "has no header "
            "and 3 columns, called 1 to 3");
  EXPECT_EQ(fault("a,t,c\n1,yesterday,3\n", "a,t:day,c"),
            "x.csv:2: 'yesterday' in the column 't' is no time: expected a date such as 2014-04-01T13:05, "
            "4/1/2014 1:05 PM or 1.4.2014, or seconds since 1970");
  EXPECT_EQ(read("a,b,c\n#1,x,3\n", "a,b,c").labels[0].labels, (Strings{"#1"}));
  EXPECT_EQ(fault("1::2::3::4\n1::\"2\":\n"),
            "x.csv:2: a quoted field is not closed on its line; multiline reads fields with line breaks");
  EXPECT_EQ(fault("1::2\n"), "x.csv:1: expected user, item, rating and time, found 2 fields");
}

TEST(Csv, the_columns_option_is_checked) {
  EXPECT_EQ(parse_columns("user,item,rating,time", "").idle, (Strings{"time"}));
  EXPECT_EQ(parse_columns("user,item,rating,time", "").value, "rating");
  EXPECT_EQ(parse_columns("user,item,rating,time", "rating").modes.size(), 4);
  EXPECT_EQ(parse_columns("user,item", "1").value, "");
  EXPECT_THROW(parse_columns("user,rating", ""), Error);
  EXPECT_THROW(parse_columns("user,item,time:day", ""), Error);
  EXPECT_THROW(parse_columns("user,,x", ""), Error);
}

TEST(Csv, shares_united_name_the_same_indices_as_the_whole) {
  const test::TemporaryFolder folder;
  std::string text = "who,what,when,n\n";
  for (int i = 0; i < 500; ++i)
    text += "u" + std::to_string(i * 37 % 101) + ",w" + std::to_string(i * i % 57) + "," +
            std::to_string(1400000000 + 86400 * (i * i % 701)) + "," + std::to_string(i) + "\n";
  const auto path = folder.write("x.csv", text);
  ReadOptions options;
  for (const auto& [threads, kind] :
       {std::pair(1, "day"), {3, "week"}, {2, "weekday"}, {1, "month-of-year"}}) {
    options.columns = parse_columns(std::string("who,what,when:") + kind, "n");
    omp_set_num_threads(threads);
    const auto whole = read_tensor(path, options);
    std::vector<Slab> slabs;
    std::vector<std::vector<ModeLabels>> labels;
    for (int part = 0; part < 5; ++part) {
      options.share = {part, 5};
      slabs.push_back(read_slab(path, options));
      labels.push_back(slabs.back().labels);
    }
    options.share = {};
    Index next = 0;
    SlabFacts facts;
    for (auto& slab : slabs) {
      relabel(slab, unite_labels(labels, slab.label_rules));
      facts = merge(facts, slab.facts);
    }
    for (auto& slab : slabs) {
      const auto piece = assemble(std::move(slab), facts, options);
      EXPECT_EQ(piece.labels, whole.labels);
      for (Index z = 0; z < piece.tensor.num_nonzeros(); ++z, ++next) {
        EXPECT_EQ(piece.tensor.indices(0)[z], whole.tensor.indices(0)[next]);
        EXPECT_EQ(piece.tensor.indices(1)[z], whole.tensor.indices(1)[next]);
        EXPECT_EQ(piece.tensor.values()[z], whole.tensor.values()[next]);
      }
    }
    EXPECT_EQ(next, 500);
  }
}

}  // namespace
}  // namespace polyad::io
