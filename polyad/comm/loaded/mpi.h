#pragma once
// What comm/ uses of MPI, for an MPI that is found when the program runs (loaded_mpi.hpp). Implementations of
// MPI agree on the names and the order of arguments, but not on what a handle is nor on the values of
// constants: functions are called through pointers, with handles as that MPI passes them.
// NOLINTBEGIN(readability-identifier-naming): the names are those of MPI

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace polyad::loaded_mpi {

// The number that stands for an object of MPI: the pointer, or the int in its lower half.
template <class Kind>
struct Handle {
  std::uintptr_t value = 0;
  friend bool operator==(const Handle&, const Handle&) = default;
};
static_assert(sizeof(std::uintptr_t) == 8 && std::endian::native == std::endian::little);

// How an argument is passed if handles are of type Raw.
template <class Raw, class T>
struct Passed {
  using Type = T;
  static T from(T x) { return x; }
};
template <class Raw, class Kind>
struct Passed<Raw, Handle<Kind>> {
  using Type = Raw;
  static Raw from(Handle<Kind> handle) { return std::bit_cast<std::array<Raw, 8 / sizeof(Raw)>>(handle)[0]; }
};
template <class Raw, class Kind>
struct Passed<Raw, Handle<Kind>*> {
  using Type = Raw*;
  static Raw* from(Handle<Kind>* handle) { return reinterpret_cast<Raw*>(&handle->value); }
};

bool has_int_handles() noexcept;

template <class Raw, class... Args>
int call_with(void* function, Args... args) {
  using Function = int (*)(typename Passed<Raw, Args>::Type...);
  return reinterpret_cast<Function>(function)(Passed<Raw, Args>::from(args)...);
}

template <class... Args>
int call(void* function, Args... args) {
  return has_int_handles() ? call_with<int>(function, args...) : call_with<void*>(function, args...);
}

using Comm = Handle<struct CommKind>;
using Datatype = Handle<struct DatatypeKind>;
using Op = Handle<struct OpKind>;
using Request = Handle<struct RequestKind>;
using Info = Handle<struct InfoKind>;
using Errhandler = Handle<struct ErrhandlerKind>;

// Larger than that of any MPI.
struct Status {
  alignas(16) std::array<std::byte, 256> bytes;
};

struct Constants {
  Comm comm_null, comm_world;
  Datatype byte, int32, int64, float32, float64;
  Op sum, max, min;
  Request request_null;
  Info info_null;
  Errhandler errors_return;
  void* in_place = nullptr;
  int comm_type_shared = 0, thread_single = 0, thread_funneled = 0;
};
const Constants& constants() noexcept;
Status* ignored_status() noexcept;

// Addresses of the functions.
// clang-format off
#define POLYAD_MPI_FUNCTIONS(X)                                                                \
  X(Abort) X(Allgather) X(Allgatherv) X(Allreduce) X(Alltoall) X(Barrier) X(Bcast) X(Cancel)   \
  X(Comm_dup_with_info) X(Comm_free) X(Comm_rank) X(Comm_set_errhandler) X(Comm_size)          \
  X(Comm_split) X(Comm_split_type) X(Comm_test_inter) X(Error_string) X(Finalized)             \
  X(Get_count) X(Ibarrier) X(Initialized) X(Irecv) X(Isend) X(Query_thread) X(Recv_init)       \
  X(Reduce) X(Reduce_scatter) X(Request_free) X(Send_init) X(Start) X(Test) X(Wait)
// clang-format on
struct Functions {
#define POLYAD_MPI_FUNCTION(name) void* name = nullptr;
  POLYAD_MPI_FUNCTIONS(POLYAD_MPI_FUNCTION)
#undef POLYAD_MPI_FUNCTION
};
const Functions& functions() noexcept;

}  // namespace polyad::loaded_mpi

using MPI_Comm = polyad::loaded_mpi::Comm;
using MPI_Datatype = polyad::loaded_mpi::Datatype;
using MPI_Op = polyad::loaded_mpi::Op;
using MPI_Request = polyad::loaded_mpi::Request;
using MPI_Info = polyad::loaded_mpi::Info;
using MPI_Errhandler = polyad::loaded_mpi::Errhandler;
using MPI_Status = polyad::loaded_mpi::Status;

inline constexpr int MPI_SUCCESS = 0;
inline constexpr std::size_t MPI_MAX_ERROR_STRING = 8192;  // no MPI has longer ones
#define MPI_COMM_NULL (polyad::loaded_mpi::constants().comm_null)
#define MPI_COMM_WORLD (polyad::loaded_mpi::constants().comm_world)
#define MPI_BYTE (polyad::loaded_mpi::constants().byte)
#define MPI_INT32_T (polyad::loaded_mpi::constants().int32)
#define MPI_INT64_T (polyad::loaded_mpi::constants().int64)
#define MPI_FLOAT (polyad::loaded_mpi::constants().float32)
#define MPI_DOUBLE (polyad::loaded_mpi::constants().float64)
#define MPI_SUM (polyad::loaded_mpi::constants().sum)
#define MPI_MAX (polyad::loaded_mpi::constants().max)
#define MPI_MIN (polyad::loaded_mpi::constants().min)
#define MPI_OP_NULL (polyad::loaded_mpi::Op{})
#define MPI_REQUEST_NULL (polyad::loaded_mpi::constants().request_null)
#define MPI_INFO_NULL (polyad::loaded_mpi::constants().info_null)
#define MPI_ERRORS_RETURN (polyad::loaded_mpi::constants().errors_return)
#define MPI_IN_PLACE (polyad::loaded_mpi::constants().in_place)
#define MPI_COMM_TYPE_SHARED (polyad::loaded_mpi::constants().comm_type_shared)
#define MPI_THREAD_SINGLE (polyad::loaded_mpi::constants().thread_single)
#define MPI_THREAD_FUNNELED (polyad::loaded_mpi::constants().thread_funneled)
#define MPI_STATUS_IGNORE (polyad::loaded_mpi::ignored_status())

// The types of the arguments are those of the declarations below, as MPI has them: pointers must not be
// passed as pointers to something else.
#define POLYAD_MPI_CALL(name, ...) polyad::loaded_mpi::call(polyad::loaded_mpi::functions().name, __VA_ARGS__)
inline int MPI_Abort(MPI_Comm comm, int code) {
  return POLYAD_MPI_CALL(Abort, comm, code);
}
inline int MPI_Allgather(const void* in, int n, MPI_Datatype of, void* out, int m, MPI_Datatype to,
                         MPI_Comm c) {
  return POLYAD_MPI_CALL(Allgather, in, n, of, out, m, to, c);
}
inline int MPI_Allgatherv(const void* in, int n, MPI_Datatype of, void* out, const int* counts,
                          const int* offsets, MPI_Datatype to, MPI_Comm comm) {
  return POLYAD_MPI_CALL(Allgatherv, in, n, of, out, counts, offsets, to, comm);
}
inline int MPI_Allreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return POLYAD_MPI_CALL(Allreduce, in, out, n, type, op, comm);
}
inline int MPI_Alltoall(const void* in, int n, MPI_Datatype of, void* out, int m, MPI_Datatype to,
                        MPI_Comm c) {
  return POLYAD_MPI_CALL(Alltoall, in, n, of, out, m, to, c);
}
inline int MPI_Barrier(MPI_Comm comm) {
  return POLYAD_MPI_CALL(Barrier, comm);
}
inline int MPI_Bcast(void* items, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  return POLYAD_MPI_CALL(Bcast, items, n, type, root, comm);
}
inline int MPI_Cancel(MPI_Request* request) {
  return POLYAD_MPI_CALL(Cancel, request);
}
inline int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* copy) {
  return POLYAD_MPI_CALL(Comm_dup_with_info, comm, info, copy);
}
inline int MPI_Comm_free(MPI_Comm* comm) {
  return POLYAD_MPI_CALL(Comm_free, comm);
}
inline int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  return POLYAD_MPI_CALL(Comm_rank, comm, rank);
}
inline int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  return POLYAD_MPI_CALL(Comm_set_errhandler, comm, handler);
}
inline int MPI_Comm_size(MPI_Comm comm, int* size) {
  return POLYAD_MPI_CALL(Comm_size, comm, size);
}
inline int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part) {
  return POLYAD_MPI_CALL(Comm_split, comm, color, key, part);
}
inline int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part) {
  return POLYAD_MPI_CALL(Comm_split_type, comm, type, key, info, part);
}
inline int MPI_Comm_test_inter(MPI_Comm comm, int* flag) {
  return POLYAD_MPI_CALL(Comm_test_inter, comm, flag);
}
inline int MPI_Error_string(int code, char* text, int* length) {
  return POLYAD_MPI_CALL(Error_string, code, text, length);
}
inline int MPI_Finalized(int* flag) {
  return POLYAD_MPI_CALL(Finalized, flag);
}
inline int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  return POLYAD_MPI_CALL(Get_count, status, type, count);
}
inline int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return POLYAD_MPI_CALL(Ibarrier, comm, request);
}
inline int MPI_Initialized(int* flag) {
  return POLYAD_MPI_CALL(Initialized, flag);
}
inline int MPI_Irecv(void* items, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                     MPI_Request* r) {
  return POLYAD_MPI_CALL(Irecv, items, n, type, from, tag, comm, r);
}
inline int MPI_Isend(const void* items, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                     MPI_Request* r) {
  return POLYAD_MPI_CALL(Isend, items, n, type, to, tag, comm, r);
}
inline int MPI_Query_thread(int* level) {
  return POLYAD_MPI_CALL(Query_thread, level);
}
inline int MPI_Recv_init(void* items, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                         MPI_Request* r) {
  return POLYAD_MPI_CALL(Recv_init, items, n, type, from, tag, comm, r);
}
inline int MPI_Reduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, int root,
                      MPI_Comm comm) {
  return POLYAD_MPI_CALL(Reduce, in, out, n, type, op, root, comm);
}
inline int MPI_Reduce_scatter(const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm) {
  return POLYAD_MPI_CALL(Reduce_scatter, in, out, counts, type, op, comm);
}
inline int MPI_Request_free(MPI_Request* request) {
  return POLYAD_MPI_CALL(Request_free, request);
}
inline int MPI_Send_init(const void* items, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Request* r) {
  return POLYAD_MPI_CALL(Send_init, items, n, type, to, tag, comm, r);
}
inline int MPI_Start(MPI_Request* request) {
  return POLYAD_MPI_CALL(Start, request);
}
inline int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  return POLYAD_MPI_CALL(Test, request, flag, status);
}
inline int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return POLYAD_MPI_CALL(Wait, request, status);
}
#undef POLYAD_MPI_CALL
// NOLINTEND(readability-identifier-naming)
