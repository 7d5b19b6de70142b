#pragma once
// Private to the files of comm/ that use MPI.

#include "polyad/comm/mpi_comm.hpp"
#include "polyad/comm/transport.hpp"

namespace polyad::mpi {

// The owner of an MPI communicator: frees it, unless MPI is finalised already.
class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(MPI_Comm comm);
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  MPI_Comm comm() const { return comm_; }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::unique_ptr<Transport> split(int color, int key) override;
  std::unique_ptr<Transport> split_by_machine() override;
  void barrier() override;
  void barrier_asleep() override;
  bool all_arrive_within(double seconds) noexcept override;
  bool takes_device_memory() const override;
  void all_reduce(void* inout, Index count, NumberType type, Reduce op, Index limit) override;
  void reduce_scatter(const void* all, std::span<const Index> counts, void* mine, NumberType type,
                      Index limit) override;
  void broadcast(void* items, Index count, Index item_bytes, int root, Index limit) override;
  void all_gather(const void* mine, void* all, Index item_bytes) override;
  void all_gather_varying(const void* mine, void* all, std::span<const Index> counts, Index item_bytes,
                          Index limit) override;
  void gather_varying(const void* mine, void* all, std::span<const Index> counts, Index item_bytes, int root,
                      Index limit) override;
  void scatter_varying(const void* all, void* mine, std::span<const Index> counts, Index item_bytes, int root,
                       Index limit) override;
  void all_to_all(const void* send, std::span<const Index> send_counts, void* recv,
                  std::span<const Index> recv_counts, Index item_bytes, Index limit) override;
  std::vector<Index> exchange_counts(std::span<const Index> send_counts) override;
  std::unique_ptr<PendingMessage> isend(const void* bytes, Index count, Index piece_bytes, int to,
                                        int tag) override;
  std::unique_ptr<PendingMessage> irecv(void* bytes, Index count, Index piece_bytes, int from,
                                        int tag) override;
  std::unique_ptr<RepeatedMessage> send_channel(const void* bytes, Index count, Index piece_bytes, int to,
                                                int tag) override;
  std::unique_ptr<RepeatedMessage> receive_channel(void* bytes, Index count, Index piece_bytes, int from,
                                                   int tag) override;

 private:
  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
};

// A duplicate of a communicator that MPI or the host owns, with MPI_ERRORS_RETURN as its error handler.
// Collective.
std::unique_ptr<MpiTransport> duplicate(MPI_Comm comm);

// Throws Error{comm} unless MPI runs, with MPI_THREAD_FUNNELED or better.
void check_running();
// The same, and for MPI_COMM_NULL and intercommunicators.
void check_usable(MPI_Comm comm);

// Makes `comm` what Comm::world() returns, or nothing.
void set_world(const Comm* comm) noexcept;

}  // namespace polyad::mpi
