#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "polyad/gpu/gpu_list.hpp"

// The runtime of a GPU, as far as the library needs it. Only files with the ending .cu know CUDA itself.
namespace polyad::gpu {

// The GPUs of this machine. Does not begin to use them: others may have them to themselves.
GpuList list_devices();

// Memory of a GPU that is free. Begins to use it.
Index free_bytes(int index);
// Memory that a block of threads can have.
Index block_memory_bytes(int index);
// Whether this program has kernels for a GPU: they are compiled for some kinds. Begins to use it.
bool has_kernels_for(int index);

// Makes a GPU the one that this thread works with.
void use_device(int index);

// Memory of the GPU in use, not initialised. Throws Error{resource} with what was wanted and what is free.
void* allocate(Index bytes);
void release(void* memory) noexcept;
// Memory of the machine that the GPU can write to.
void* allocate_pinned(Index bytes);
void release_pinned(void* memory) noexcept;

// Copies and kernels follow one another in the order in which they were started. Copies to memory of the
// machine have ended when they return.
void copy_to_device(void* to, const void* from, Index bytes);
void copy_to_host(void* to, const void* from, Index bytes);
// The same without waiting; an Event says when it has ended.
void start_copy_to_host(void* to, const void* from, Index bytes);
void copy_on_device(void* to, const void* from, Index bytes);
void fill_with_zeros(void* to, Index bytes);

// A moment among copies and kernels, which can be waited for.
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record();
  void wait() const;

 private:
  void* handle_;
};

// Copies and kernels that are started together time and again, with the same arguments. The second time they
// are recorded, and from then on the record is started, which takes less time: a CUDA graph.
class Recording {
 public:
  Recording() = default;
  Recording(Recording&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), has_run_(other.has_run_) {}
  Recording& operator=(Recording&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(has_run_, other.has_run_);
    return *this;
  }
  ~Recording();

  // start_all may start copies from and to memory of a PinnedArray only, and waits for nothing.
  template <class Fn>
  void start(Fn start_all) {
    if (!std::exchange(has_run_, true) || !can_record()) return start_all();
    if (handle_ == nullptr) {
      begin();
      start_all();
      end();
    }
    start_record();
  }

 private:
  // Unless POLYAD_GPU_GRAPHS is 0, for comparisons.
  static bool can_record();
  static void begin();
  void end();
  void start_record() const;

  void* handle_ = nullptr;
  bool has_run_ = false;
};

// Where messages to other processes are sent from and received in.
enum class MessageMemory { machine, device };

// Memory of the machine that is somebody else's, made fit for fast copies while this lives, if the system
// allows it. Whether it does changes only how long copies take.
class FastCopies {
 public:
  enum class Access { read_only, read_and_write };  // by the program

  FastCopies(std::span<const std::byte> memory, Access access);
  FastCopies(FastCopies&& other) noexcept : memory_(std::exchange(other.memory_, {})) {}
  FastCopies& operator=(FastCopies&& other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~FastCopies();

 private:
  std::span<const std::byte> memory_;  // none: not allowed
};

// An array in the memory of the GPU in use.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(Index size)
      : data_(size == 0 ? nullptr : static_cast<T*>(allocate(size * Index(sizeof(T))))), size_(size) {}
  explicit DeviceArray(std::span<const T> values) : DeviceArray(std::ssize(values)) {
    copy_to_device(data_, values.data(), bytes());
  }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceArray() {
    if (data_ != nullptr) release(data_);
  }

  T* data() const { return data_; }  // to be read by kernels only
  Index size() const { return size_; }
  Index bytes() const { return size_ * Index(sizeof(T)); }

 private:
  T* data_ = nullptr;
  Index size_ = 0;
};

// An array of the machine that kernels write to.
template <class T>
class PinnedArray {
 public:
  explicit PinnedArray(Index size)
      : data_(static_cast<T*>(allocate_pinned(size * Index(sizeof(T))))), size_(size) {}
  ~PinnedArray() { release_pinned(data_); }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;

  std::span<T> values() const { return {data_, std::size_t(size_)}; }

 private:
  T* data_;
  Index size_;
};

}  // namespace polyad::gpu
