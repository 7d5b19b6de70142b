#include "polyad/comm/collective.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "polyad/base/random.hpp"

namespace polyad {
namespace {

// What every rank must throw when each rank of `failing` throws its own.
Error error_of(int rank) {
  return {Errc::bad_input,
          "expected 5 fields, found " + std::to_string(rank),
          {"dir:1/x" + std::to_string(rank) + ".tns", 100 + rank}};
}

void expect_same(const Error& actual, const Error& expected) {
  EXPECT_EQ(actual.code(), expected.code());
  EXPECT_STREQ(actual.what(), expected.what());
  EXPECT_EQ(actual.input(), expected.input());
}

template <class Fn>
void expect_thrown(const Comm& comm, const Error& expected, Fn fn) {
  try {
    collectively(comm, fn);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& actual) {
    expect_same(actual, expected);
  }
}

TEST(Collectively, returns_what_the_function_returns) {
  const Comm comm = Comm::world();

  EXPECT_EQ(collectively(comm, [&] { return comm.rank() * 2; }), comm.rank() * 2);
  EXPECT_EQ(*collectively(comm, [] { return std::make_unique<int>(5); }), 5);
  int calls = 0;
  collectively(comm, [&] { ++calls; });
  static_assert(std::is_void_v<decltype(collectively(comm, [] {}))>);
  EXPECT_EQ(calls, 1);
}

TEST(Collectively, an_error_on_any_one_rank_is_thrown_on_all) {
  const Comm comm = Comm::world();
  for (int culprit = 0; culprit < comm.size(); ++culprit) {
    expect_thrown(comm, error_of(culprit), [&] {
      if (comm.rank() == culprit) throw error_of(culprit);
    });
    expect_thrown(comm, error_of(culprit), [&]() -> std::vector<int> {
      if (comm.rank() == culprit) throw error_of(culprit);
      return {1, 2, 3};
    });
  }
}

TEST(Collectively, of_several_errors_that_of_the_lowest_rank_wins) {
  const Comm comm = Comm::world();
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::set<int> failing;
    for (int r = 0; r < comm.size(); ++r)
      if (Random(seed, 1).uniform(std::uint64_t(r)) < 0.5) failing.insert(r);
    const auto fn = [&] {
      if (failing.contains(comm.rank())) throw error_of(comm.rank());
    };

    if (failing.empty())
      EXPECT_NO_THROW(collectively(comm, fn));
    else
      expect_thrown(comm, error_of(*failing.begin()), fn);
  }
}

TEST(Collectively, keeps_code_message_and_position) {
  const Comm comm = Comm::world();
  const std::vector<Error> errors{
      {Errc::bad_option, "no file"},
      {Errc::io, "no line", {"x.tns", 0}},
      {Errc::bad_input, "x.tns:7: looks like a position", {"x.tns", 7}},
      {Errc::comm, ""},
      {Errc::bad_input, "", {"x.tns", 1}},
      {Errc::resource, "umlauts: ä, \u221e", {"großes Verzeichnis/x.tns", Index(1) << 40}},
      {Errc::internal, std::string(300, 'x'), {std::string(200, 'y'), 3}},
  };
  for (const Error& error : errors)
    for (const Index limit : {Index(1), Index(7), Comm::default_message_limit})
      expect_thrown(comm.with_message_limit(limit), error, [&] {
        if (comm.rank() == comm.size() - 1) throw error;
      });
}

TEST(Collectively, other_exceptions_become_errors) {
  const Comm comm = Comm::world();
  const int last = comm.size() - 1;
  expect_thrown(comm, {Errc::resource, "out of memory"}, [&] {
    if (comm.rank() == last) throw std::bad_alloc();
  });
  expect_thrown(comm, {Errc::internal, "vector::_M_range_check"}, [&] {
    if (comm.rank() == last) throw std::out_of_range("vector::_M_range_check");
  });
  expect_thrown(comm, {Errc::internal, "an exception of unknown type"}, [&] {
    if (comm.rank() == last) throw 42;
  });
}

TEST(Collectively, concerns_only_the_ranks_of_its_communicator) {
  const Comm world = Comm::world(), half = world.split(world.rank() % 2, world.rank());
  const auto fail_in_even_half = [&] {
    if (world.rank() == 0) throw error_of(0);
    return 1;
  };

  if (world.rank() % 2 == 0)
    expect_thrown(half, error_of(0), fail_in_even_half);
  else
    EXPECT_EQ(collectively(half, fail_in_even_half), 1);
  EXPECT_EQ(world.all_reduce(1), world.size());
}

}  // namespace
}  // namespace polyad
