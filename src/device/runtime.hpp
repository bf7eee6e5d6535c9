#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/tensor.hpp>

namespace trainrt::device {

// The interface through which trainrt uses GPUs. There are implementations for CUDA, for machines without GPUs, and a fake
// one for tests. If a GPU fails, the functions throw Error with the name of the failed call.

/// A position in a GPU stream. An event is reached when all work that was enqueued on the stream before the event is
/// complete.
class Event {
 public:
  virtual ~Event() = default;
  /// Returns whether the event is reached, without waiting. Any thread may call test().
  virtual bool test() = 0;
};
using Events = std::vector<std::shared_ptr<Event>>;

/// Waits until `event` is reached, by polling at growing intervals. Returns true if it was reached, or false after
/// `limit_seconds` seconds.
bool wait_within(Event& event, double limit_seconds);

/// Arguments of Stream::reduce(), which reduces arrays of several ranks in GPU memory. The arrays ("parts") are stored one
/// after the other and are reduced element by element, along the fixed binary tree over rank numbers.
struct TreeReduction {
  const void* parts = nullptr;  ///< input: the parts of all ranks, ranks * stride elements, on the stream's GPU
  std::size_t stride = 0;       ///< distance between the parts of consecutive ranks, in elements
  int ranks = 1;
  void* out = nullptr;       ///< output: `count` elements; may be one of the parts
  std::size_t count = 0;     ///< number of elements of each part
  DType dtype = DType::f32;  ///< f64, f32, f16, bf16, i64 or i32; f16 and bf16 are summed in f32 and rounded once
  Op op = Op::sum;
  int divide_by = 1;  ///< divisor of each element of the result, for means; 1: no division
};

/// A queue of GPU work, such as a CUDA stream. The GPU performs the work in order while the host continues. Memory must
/// stay valid until the work that uses the memory is complete.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void to_host(void* to, const void* from, std::size_t bytes) = 0;
  virtual void to_device(void* to, const void* from, std::size_t bytes) = 0;
  virtual void within_device(void* to, const void* from, std::size_t bytes) = 0;
  /// Enqueues a reduction of GPU memory. The result has the same bits as the same reduction on the CPU, except for the
  /// payload of NaNs.
  virtual void reduce(const TreeReduction& reduction) = 0;
  virtual std::shared_ptr<Event> record() = 0;
  /// Delays work that is enqueued on this stream after this call until `event` is reached. The event may belong to
  /// another stream.
  virtual void wait_for(const Event& event) = 0;
  /// Returns the underlying stream for use by other libraries: a cudaStream_t.
  virtual void* handle() const = 0;
};

/// Properties of a GPU that this process can use.
struct Gpu {
  int number = 0;  ///< CUDA device number of the GPU in this process
  std::string name;
  std::string uuid;  ///< unique identifier of the GPU, the same in all processes
  std::size_t memory_bytes = 0;
};

/// The GPUs that this process can use: their number and properties, their memory and their streams.
class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual std::string_view name() const = 0;
  virtual int count() = 0;                  ///< number of GPUs that this process can use; determined at the first call
  virtual std::string no_gpu_reason() = 0;  ///< why count() is 0, for messages; "" if it is not 0
  virtual std::string versions() = 0;       ///< "runtime 13.0, driver 13.0"; "" if there is no GPU runtime
  virtual Gpu describe(int gpu) = 0;

  /// Returns the device number of the GPU that owns `memory`, or nullopt if `memory` is host memory.
  virtual std::optional<int> owner_of(const void* memory) = 0;
  /// Makes `gpu` the current GPU of the calling thread, which CUDA and other libraries use by default.
  virtual void use(int gpu) = 0;

  /// Allocates zeroed GPU memory, aligned to at least 256 bytes. The zeros are written on the GPU's default stream: before
  /// another stream writes to the memory, that stream must wait for an event of the default stream.
  virtual Memory allocate(int gpu, std::size_t bytes) = 0;
  virtual Memory allocate_pinned(std::size_t bytes) = 0;  ///< allocates pinned host memory, which GPUs can access directly
  /// Pins (page-locks) existing host memory. Returns false if the system refuses.
  virtual bool pin(std::span<std::byte> memory) = 0;
  virtual void unpin(std::span<std::byte> memory) noexcept = 0;

  virtual std::unique_ptr<Stream> make_stream(int gpu) = 0;
  /// Returns the default stream of `gpu` (CUDA's legacy default stream), which other libraries use by default.
  virtual std::unique_ptr<Stream> default_stream(int gpu) = 0;
};

/// Returns the Runtime of this process. The call itself uses neither a GPU nor the driver.
Runtime& runtime();

/// For tests: makes runtime() return `other` while this object lives.
class ReplacedRuntime {
 public:
  explicit ReplacedRuntime(Runtime& other);
  ~ReplacedRuntime();
  ReplacedRuntime(const ReplacedRuntime&) = delete;

 private:
  Runtime* before_;
};

}  // namespace trainrt::device
