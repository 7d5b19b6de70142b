#pragma once

#include "polyad/tasks/complete.hpp"

namespace polyad::tasks {

// Test ratings that training does not see at all: others choose the epoch.
struct HeldOutTest {
  SparseTensor<double> test;  // of this process, users x items
  Index num_test = 0;         // of all processes, as all below
  Index num_duplicates = 0, num_test_duplicates = 0, num_unknown = 0;
  Index num_learned = 0;  // whose user and item have a training rating too
};

// Takes the test ratings out of `ratings`, and then the validation ratings, which become options.test: those
// that training measures its errors on. Requires options.validate. Throws Error{bad_option} where this leaves
// no validation rating. Collective.
HeldOutTest hold_out_test(const Context& context, Tensor& ratings, CompleteOptions& options);

}  // namespace polyad::tasks
