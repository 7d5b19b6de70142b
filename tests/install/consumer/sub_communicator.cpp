// A program that uses MPI itself: half of its processes decompose a tensor on a communicator of their own,
// while messages of the program with the same tags are under way.

#include <polyad/comm/mpi_comm.hpp>

#include <cstdio>
#include <polyad/polyad.hpp>
#include <vector>

int main(int argc, char** argv) {
  int provided = 0, rank = 0, size = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);

  // Received after the decomposition, from whomever, with whatever tag.
  constexpr int num_tags = 16;
  std::vector<int> received(num_tags, -1), sent(num_tags);
  std::vector<MPI_Request> requests(2 * num_tags);
  for (int tag = 0; tag < num_tags; ++tag) {
    sent[tag] = 100 * rank + tag;
    MPI_Irecv(&received[tag], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, half, &requests[tag]);
  }
  double fit = 0;
  {
    const polyad::Context context(polyad::from_mpi(half));
    fit = polyad::decompose(context, polyad::load(context, argv[1]),
                            {.rank = 4, .max_iterations = 10, .tolerance = 0})
              .fit();
  }
  int half_rank = 0, half_size = 1;
  MPI_Comm_rank(half, &half_rank);
  MPI_Comm_size(half, &half_size);
  for (int tag = 0; tag < num_tags; ++tag)
    MPI_Isend(&sent[tag], 1, MPI_INT, (half_rank + 1) % half_size, tag, half, &requests[num_tags + tag]);
  MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  int faults = 0;
  for (int tag = 0; tag < num_tags; ++tag) faults += received[tag] % 100 != tag ? 1 : 0;
  double least = 0, most = 0;
  MPI_Reduce(&fit, &least, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  MPI_Reduce(&fit, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%.12f\n%.12f\n", least, most);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return faults == 0 ? 0 : 1;
}
