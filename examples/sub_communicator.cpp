// A program that uses MPI itself: its even processes decompose a tensor, while all exchange messages of their
// own. Run it under mpirun.

#include "polyad/comm/mpi_comm.hpp"

#include <cstdio>

#include "polyad/polyad.hpp"

int main(int argc, char** argv) {
  int provided = 0, rank = 0, size = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);

  // A ring of messages that is under way during the decomposition.
  int from_left = -1;
  MPI_Request requests[2];
  MPI_Irecv(&from_left, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
  if (rank % 2 == 0) {
    const polyad::Context context(polyad::from_mpi(half));  // a duplicate, freed at the end of this block
    const auto model = polyad::decompose(context, polyad::load(context, argv[1]), {.rank = 4});
    if (rank == 0) std::printf("fit %.4f on %d of %d processes\n", model.fit(), context.comm().size(), size);
  }
  MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  const bool is_mine = from_left == (rank + size - 1) % size;

  MPI_Comm_free(&half);
  MPI_Finalize();
  return is_mine ? 0 : 1;
}
