#include "polyad/base/call_ref.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace polyad {
namespace {

int call(CallRef<int(int)> fn, int x) {
  return fn(x);
}

TEST(CallRef, calls_lambdas_and_function_objects) {
  const auto thrice = [](int x) { return 3 * x; };
  EXPECT_EQ(call(std::negate<int>(), 7), -7);
  EXPECT_EQ(call(thrice, 7), 21);
  EXPECT_EQ(call([](long x) { return short(x + 1); }, 7), 8);
}

TEST(CallRef, refers_to_the_object_and_does_not_copy_it) {
  int calls = 0;
  auto count = [calls, pinned = std::make_unique<int>(5)](int x) mutable { return ++calls + x + *pinned; };
  const CallRef<int(int)> first(count);
  const CallRef<int(int)> second = first;  // of the same object, not of the first reference
  EXPECT_EQ(first(0), 6);
  EXPECT_EQ(second(0), 7);
  EXPECT_EQ(count(0), 8);
}

TEST(CallRef, passes_arguments_as_they_are) {
  const auto take = [](std::unique_ptr<int> from, std::string& to) { to += std::to_string(*from); };
  std::string text = "x";
  const CallRef<void(std::unique_ptr<int>, std::string&)> fn(take);
  fn(std::make_unique<int>(12), text);
  EXPECT_EQ(text, "x12");
}

TEST(CallRef, lets_exceptions_pass) {
  const auto fail = [](int) -> int { throw std::runtime_error("no"); };
  EXPECT_THROW(call(fail, 1), std::runtime_error);
}

}  // namespace
}  // namespace polyad
