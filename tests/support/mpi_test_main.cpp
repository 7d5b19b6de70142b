// The main of tests that run on several ranks.
#include "polyad/comm/runtime.hpp"
#include "tests/support/chosen_tests.hpp"
#include "tests/support/mpi_tests.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!polyad::test::choose_tests(argc, argv)) return 1;
  const polyad::Runtime runtime(argc, argv);
  return polyad::test::run_tests_together(polyad::Comm::world(), [&] { runtime.abort(1); });
}
