// The main of tests that run on one process.
#include "tests/support/chosen_tests.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return polyad::test::choose_tests(argc, argv) ? RUN_ALL_TESTS() : 1;
}
