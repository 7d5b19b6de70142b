// The main of tests that run on one process.
#include "tests/support/chosen_tests.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return polyad::test::choose_tests(argc, argv) ? polyad::test::run_and_print_skipped() : 1;
}
