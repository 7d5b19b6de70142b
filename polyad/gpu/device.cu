#include "polyad/gpu/device.hpp"

#include <cstdlib>
#include <string_view>

#include "polyad/base/error.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/gpu/cuda_check.hpp"

namespace polyad::gpu {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // a failure that was told is not told again
  throw Error(Errc::resource, std::string("the GPU failed at ") + what + ": " + cudaGetErrorString(status));
}

void check_start(const char* what) {
  check(cudaGetLastError(), what);
}

GpuList list_devices() {
  int count = 0;
  if (const auto status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    cudaGetLastError();
    return {{}, std::string("no GPU was found: ") + cudaGetErrorString(status)};
  }
  GpuList list;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, index), "asking for its properties");
    list.gpus.push_back({properties.name, Index(properties.totalGlobalMem)});
  }
  if (count == 0) list.why_none = "no GPU was found";
  return list;
}

Index free_bytes(int index) {
  std::size_t free = 0, total = 0;
  use_device(index);
  check(cudaMemGetInfo(&free, &total), "asking for its memory");
  return Index(free);
}

Index block_memory_bytes(int index) {
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, index),
        "asking for the memory of its blocks");
  return bytes;
}

void use_device(int index) {
  check(cudaSetDevice(index), "beginning to use it");
}

void* allocate(Index bytes) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, std::size_t(bytes)) == cudaSuccess) return memory;
  cudaGetLastError();
  std::size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  throw Error(Errc::resource, "out of memory on the GPU: " + with_prefix(double(bytes), "B") +
                                  " were asked for, " + with_prefix(double(free), "B") + " of " +
                                  with_prefix(double(total), "B") + " are free");
}

void release(void* memory) noexcept {
  cudaFree(memory);
}

void* allocate_pinned(Index bytes) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, std::size_t(bytes)), "taking memory of the machine");
  return memory;
}

void release_pinned(void* memory) noexcept {
  cudaFreeHost(memory);
}

void copy_to_device(void* to, const void* from, Index bytes) {
  if (bytes > 0)
    check(cudaMemcpyAsync(to, from, std::size_t(bytes), cudaMemcpyHostToDevice, nullptr), "copying to it");
}

void copy_to_host(void* to, const void* from, Index bytes) {
  if (bytes > 0) check(cudaMemcpy(to, from, std::size_t(bytes), cudaMemcpyDeviceToHost), "copying from it");
}

void start_copy_to_host(void* to, const void* from, Index bytes) {
  if (bytes > 0)
    check(cudaMemcpyAsync(to, from, std::size_t(bytes), cudaMemcpyDeviceToHost, nullptr), "copying from it");
}

void copy_on_device(void* to, const void* from, Index bytes) {
  if (bytes > 0)
    check(cudaMemcpyAsync(to, from, std::size_t(bytes), cudaMemcpyDeviceToDevice, nullptr), "copying on it");
}

void fill_with_zeros(void* to, Index bytes) {
  if (bytes > 0) check(cudaMemsetAsync(to, 0, std::size_t(bytes), nullptr), "clearing memory");
}

Event::Event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  handle_ = event;
}
Event::~Event() {
  cudaEventDestroy(static_cast<cudaEvent_t>(handle_));
}
void Event::record() {
  check(cudaEventRecord(static_cast<cudaEvent_t>(handle_), nullptr), "recording an event");
}
void Event::wait() const {
  check(cudaEventSynchronize(static_cast<cudaEvent_t>(handle_)), "computing");
}

Recording::~Recording() {
  if (handle_ != nullptr) cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(handle_));
}
bool Recording::can_record() {
  static const char* const said = std::getenv("POLYAD_GPU_GRAPHS");
  return said == nullptr || std::string_view(said) != "0";
}
void Recording::begin() {
  check(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal), "recording");
}
void Recording::end() {
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(cudaStreamPerThread, &graph), "recording");
  cudaGraphExec_t record = nullptr;
  const auto status = cudaGraphInstantiate(&record, graph, 0);
  cudaGraphDestroy(graph);
  check(status, "recording");
  handle_ = record;
}
void Recording::start_record() const {
  check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(handle_), cudaStreamPerThread), "starting a record");
}

FastCopies::FastCopies(std::span<const std::byte> memory, Access access) {
  const unsigned how = access == Access::read_only ? cudaHostRegisterReadOnly : cudaHostRegisterDefault;
  if (!memory.empty() &&
      cudaHostRegister(const_cast<std::byte*>(memory.data()), memory.size(), how) == cudaSuccess)
    memory_ = memory;
  else
    cudaGetLastError();
}
FastCopies::~FastCopies() {
  if (!memory_.empty()) cudaHostUnregister(const_cast<std::byte*>(memory_.data()));
}

}  // namespace polyad::gpu
