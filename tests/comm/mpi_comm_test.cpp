// Polyad as a guest: this program is the host, which runs MPI and has messages of its own under way.
#include "polyad/comm/mpi_comm.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "tests/support/mpi_tests.hpp"

namespace polyad {
namespace {

void ignore_error(MPI_Comm*, int*, ...) {}  // NOLINT(cert-dcl50-cpp): the type that MPI wants

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

MPI_Errhandler handler_of(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(comm, &handler);
  return handler;
}

// An error handler of the host on a communicator, while it lives.
class HostHandler {
 public:
  explicit HostHandler(MPI_Comm comm) : comm_(comm), before_(handler_of(comm)) {
    MPI_Comm_create_errhandler(ignore_error, &mine_);
    MPI_Comm_set_errhandler(comm_, mine_);
  }
  ~HostHandler() {
    MPI_Comm_set_errhandler(comm_, before_);
    MPI_Errhandler_free(&mine_);
    MPI_Errhandler_free(&before_);
  }
  HostHandler(const HostHandler&) = delete;
  HostHandler& operator=(const HostHandler&) = delete;

  bool is_in_place() const {
    MPI_Errhandler now = handler_of(comm_);
    const bool same = now == mine_;
    MPI_Errhandler_free(&now);
    return same;
  }

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_;
  MPI_Errhandler mine_ = MPI_ERRHANDLER_NULL;
};

// Messages of the host from every rank to the next, with all tags that Polyad uses, and receives for them
// that take any message of any rank. Posted when it is made, sent by send(), awaited by expect_arrived().
class HostTraffic {
 public:
  explicit HostTraffic(MPI_Comm comm) : comm_(comm), rank_(rank_in(comm)), size_(size_of(comm)) {
    for (std::size_t i = 0; i < num_messages; ++i)
      MPI_Irecv(&received_[i], 1, MPI_INT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &requests_[i]);
  }

  void send() {
    for (std::size_t i = 0; i < num_messages; ++i) {
      sent_[i] = number_of(rank_, i);
      MPI_Isend(&sent_[i], 1, MPI_INT64_T, (rank_ + 1) % size_, tags[i], comm_, &requests_[num_messages + i]);
    }
  }

  void expect_arrived() {
    std::array<MPI_Status, 2 * num_messages> status;
    MPI_Waitall(int(requests_.size()), requests_.data(), status.data());
    const int before = (rank_ + size_ - 1) % size_;
    for (std::size_t i = 0; i < num_messages; ++i) {
      EXPECT_EQ(received_[i], number_of(before, i));
      EXPECT_EQ(status[i].MPI_SOURCE, before);
      EXPECT_EQ(status[i].MPI_TAG, tags[i]);
    }
  }

 private:
  static constexpr std::array tags{0, 1, 2, 15, Comm::max_tag, Comm::max_tag + 1};
  static constexpr std::size_t num_messages = tags.size();
  static std::int64_t number_of(int rank, std::size_t i) { return 1'000'000 * (rank + 1) + std::int64_t(i); }

  MPI_Comm comm_;
  int rank_, size_;
  std::array<std::int64_t, num_messages> sent_{}, received_{};
  std::array<MPI_Request, 2 * num_messages> requests_{};
};

void expect_messages_arrive(const Comm& comm, int tag) {
  const int next = (comm.rank() + 1) % comm.size(), before = (comm.rank() + comm.size() - 1) % comm.size();
  const std::vector<std::int64_t> mine{comm.rank(), tag};
  std::vector<std::int64_t> theirs(2);
  auto receive = comm.irecv<std::int64_t>(theirs, before, tag);
  auto send = comm.isend<std::int64_t>(mine, next, tag);
  send.wait();
  receive.wait();
  EXPECT_EQ(theirs, (std::vector<std::int64_t>{before, tag}));
}

// All kinds of communication that a Comm has.
void expect_works(const Comm& comm) {
  const int n = comm.size();
  EXPECT_EQ(comm.all_reduce(comm.rank() + 1), n * (n + 1) / 2);
  EXPECT_EQ(comm.broadcast(comm.rank() + 100, n - 1), n - 1 + 100);
  std::vector<int> ranks(std::size_t(n), 0);
  std::iota(ranks.begin(), ranks.end(), 0);
  EXPECT_EQ(comm.all_gather(comm.rank()), ranks);
  const std::vector<int> mine(std::size_t(comm.rank() + 1), comm.rank());
  const auto gathered = comm.gather_varying<int>(mine, 0);
  EXPECT_EQ(Index(gathered.items.size()), comm.rank() == 0 ? n * (n + 1) / 2 : 0);
  const std::vector<Index> ones(std::size_t(n), 1);
  std::vector<int> received(std::size_t(n), -1);
  const std::vector<int> to_each(std::size_t(n), comm.rank());
  comm.all_to_all<int>(to_each, ones, received, ones);
  EXPECT_EQ(received, ranks);
  comm.barrier();
  for (const int tag : {0, 1, 15, Comm::max_tag}) expect_messages_arrive(comm, tag);
  const auto half = comm.split(comm.rank() % 2, comm.rank());
  EXPECT_EQ(half.rank(), comm.rank() / 2);
  EXPECT_EQ(half.all_reduce(1), n / 2 + (comm.rank() % 2 == 0 ? n % 2 : 0));
  EXPECT_TRUE(comm.all_arrive_within(60));
}

std::string error_of(MPI_Comm comm) {
  try {
    from_mpi(comm);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::comm);
    return error.what();
  }
  return "no error";
}

TEST(MpiComm, has_the_ranks_of_the_hosts_communicator) {
  const Comm comm = from_mpi(MPI_COMM_WORLD);

  EXPECT_EQ(comm.rank(), rank_in(MPI_COMM_WORLD));
  EXPECT_EQ(comm.size(), size_of(MPI_COMM_WORLD));
  expect_works(comm);
}

TEST(MpiComm, messages_of_host_and_guest_never_meet) {
  HostTraffic early(MPI_COMM_WORLD), late(MPI_COMM_WORLD);
  const Comm comm = from_mpi(MPI_COMM_WORLD);
  expect_works(comm);  // the host's receives would take anything

  early.send();
  expect_works(comm);
  late.send();
  expect_works(comm);

  early.expect_arrived();
  late.expect_arrived();
}

TEST(MpiComm, messages_of_the_host_that_wait_for_a_receive_are_not_taken) {
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  const Comm comm = from_mpi(MPI_COMM_WORLD);
  const std::int64_t mine = -1 - rank;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(&mine, 1, MPI_INT64_T, (rank + 1) % size, 0, MPI_COMM_WORLD, &request);

  expect_works(comm);

  std::int64_t theirs = 0;
  MPI_Recv(&theirs, 1, MPI_INT64_T, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(theirs, -1 - (rank + size - 1) % size);
}

TEST(MpiComm, collectives_of_the_host_may_be_under_way) {
  const int size = size_of(MPI_COMM_WORLD);
  const Comm comm = from_mpi(MPI_COMM_WORLD);
  int mine = 1, all = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);

  expect_works(comm);

  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(all, size);
}

TEST(MpiComm, a_split_communicator_with_ranks_reversed) {
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 && size > 2 ? MPI_UNDEFINED : 0, -rank, &reversed);
  HostTraffic everywhere(MPI_COMM_WORLD);
  if (reversed == MPI_COMM_NULL) {
    EXPECT_EQ(error_of(reversed),
              "the communicator is MPI_COMM_NULL; expected one that this process belongs to");
  } else {
    HostTraffic traffic(reversed);
    const Comm comm = from_mpi(reversed);
    EXPECT_EQ(comm.rank(), size - 1 - rank);
    EXPECT_EQ(comm.size(), size > 2 ? size - 1 : size);
    expect_works(comm);
    traffic.send();
    expect_works(comm);
    traffic.expect_arrived();
    MPI_Comm_free(&reversed);
    expect_works(comm);  // the duplicate does not depend on the original
  }
  everywhere.send();
  everywhere.expect_arrived();
}

TEST(MpiComm, the_hosts_error_handlers_stay) {
  const HostHandler world(MPI_COMM_WORLD), self(MPI_COMM_SELF);
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank_in(MPI_COMM_WORLD), &other);
  {
    const HostHandler on_other(other);
    const Comm comm = from_mpi(other);
    expect_works(comm);
    EXPECT_EQ(Comm::self().all_reduce(7), 7);
    EXPECT_TRUE(world.is_in_place() && self.is_in_place() && on_other.is_in_place());
  }
  MPI_Comm_free(&other);
  EXPECT_TRUE(world.is_in_place() && self.is_in_place());
}

TEST(MpiComm, errors_of_the_guest_are_exceptions_whatever_the_hosts_handler) {
  Comm comm = from_mpi(MPI_COMM_WORLD);  // where every error ends the program: the default
  const int nobody = comm.size();
  const int x = 1;
  EXPECT_THROW(comm.isend<int>(std::span(&x, 1), nobody), Error);
  EXPECT_THROW(comm.split(0, 0).isend<int>(std::span(&x, 1), nobody), Error);
  EXPECT_THROW(Comm::self().isend<int>(std::span(&x, 1), 1), Error);
}

TEST(MpiComm, an_intercommunicator_is_refused) {
  const int rank = rank_in(MPI_COMM_WORLD);
  if (size_of(MPI_COMM_WORLD) < 2) GTEST_SKIP() << "needs two groups";
  MPI_Comm half = MPI_COMM_NULL, between = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &between);

  EXPECT_EQ(error_of(between), "the communicator is an intercommunicator; expected an intracommunicator");

  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

TEST(MpiComm, more_come_and_go_than_mpi_has_communicators) {
  const int count = size_of(MPI_COMM_WORLD) == 1 ? 70'000 : 2'500;  // the limits of Open MPI and of MPICH
  for (int i = 0; i < count; ++i) {
    const Comm comm = from_mpi(MPI_COMM_SELF);
    ASSERT_EQ(comm.size(), 1);
  }
  for (int i = 0; i < 200; ++i) ASSERT_EQ(from_mpi(MPI_COMM_WORLD).all_reduce(1), size_of(MPI_COMM_WORLD));
}

TEST(MpiComm, self_is_one_communicator_for_all_that_ask) {
  const int rank = rank_in(MPI_COMM_WORLD);
  std::int64_t from_host = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&from_host, 1, MPI_INT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &request);
  const Comm one = Comm::self(), two = Comm::self();
  const int sent = rank;
  int received = -1;

  auto sending = one.isend<int>(std::span(&sent, 1), 0);
  two.irecv<int>(std::span(&received, 1), 0).wait();
  sending.wait();

  EXPECT_EQ(received, rank);
  const std::int64_t host_sent = 5;
  MPI_Send(&host_sent, 1, MPI_INT64_T, 0, 0, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(from_host, 5);
}

TEST(MpiComm, world_needs_a_runtime) {
  EXPECT_THROW(Comm::world(), Error);
}

TEST(Runtime, as_a_guest_leaves_mpi_as_it_was) {
  for (const double timeout : {0.0, 60.0}) {
    const HostHandler world(MPI_COMM_WORLD), self(MPI_COMM_SELF);
    HostTraffic traffic(MPI_COMM_WORLD);
    std::optional<Comm> kept;
    {
      int argc = 0;
      char** argv = nullptr;
      Runtime runtime(argc, argv);
      runtime.watch(timeout);
      EXPECT_TRUE(world.is_in_place() && self.is_in_place());
      expect_works(Comm::world());
      traffic.send();
      expect_works(Comm::world());
      kept = Comm::world();
    }
    int finalized = 1;
    MPI_Finalized(&finalized);
    EXPECT_EQ(finalized, 0);
    EXPECT_THROW(Comm::world(), Error);
    expect_works(*kept);
    EXPECT_TRUE(world.is_in_place() && self.is_in_place());
    traffic.expect_arrived();
  }
}

TEST(Runtime, as_a_guest_an_error_on_one_rank_is_the_same_on_all) {
  HostTraffic traffic(MPI_COMM_WORLD);
  const Comm comm = from_mpi(MPI_COMM_WORLD);
  traffic.send();

  EXPECT_THROW(collectively(comm,
                            [&] {
                              if (comm.rank() == comm.size() - 1) throw Error(Errc::bad_input, "no");
                            }),
               Error);

  expect_works(comm);
  traffic.expect_arrived();
}

}  // namespace
}  // namespace polyad

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const int code = polyad::test::run_tests_together(polyad::from_mpi(MPI_COMM_WORLD),
                                                    [] { MPI_Abort(MPI_COMM_WORLD, 1); });
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return 1;
  return MPI_Finalize() == MPI_SUCCESS ? code : 1;
}
