// A host that initialised MPI without threads, and one whose MPI does not run.
#include <gtest/gtest.h>

#include <string>

#include "polyad/base/error.hpp"
#include "polyad/comm/mpi_comm.hpp"
#include "polyad/comm/runtime.hpp"

namespace polyad {
namespace {

template <class Fn>
std::string comm_error_of(Fn fn) {
  try {
    fn();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::comm);
    return error.what();
  }
  return "no error";
}

constexpr auto not_running = "MPI is not running: a communicator needs MPI_Init_thread first";

TEST(SingleThreadedHost, is_told_what_to_ask_of_mpi) {
  EXPECT_EQ(comm_error_of([] { from_mpi(MPI_COMM_WORLD); }), not_running);
  EXPECT_EQ(comm_error_of([] { Comm::self(); }), not_running);

  int provided = -1;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &provided);
  if (provided == MPI_THREAD_SINGLE) {
    const std::string needed =
        "MPI was initialised for MPI_THREAD_SINGLE; Polyad uses threads and needs MPI_THREAD_FUNNELED or "
        "better, "
        "from MPI_Init_thread";
    EXPECT_EQ(comm_error_of([] { from_mpi(MPI_COMM_WORLD); }), needed);
    EXPECT_EQ(comm_error_of([] { Comm::self(); }), needed);
    EXPECT_EQ(comm_error_of([] {
                int argc = 0;
                char** argv = nullptr;
                const Runtime runtime(argc, argv);
              }),
              needed);
  }
  int finalized = 1;
  MPI_Finalized(&finalized);
  EXPECT_EQ(finalized, 0);
  MPI_Finalize();

  EXPECT_EQ(comm_error_of([] { from_mpi(MPI_COMM_WORLD); }), not_running);
}

}  // namespace
}  // namespace polyad

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
