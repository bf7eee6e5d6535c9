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

// The interface to GPUs. It is implemented for CUDA, for machines without GPUs, and by a fake in tests. If a GPU fails,
// functions throw Error with the name of the failed call.

/// A position in a stream. It is reached when all work that was enqueued before it is complete.
class Event {
 public:
  virtual ~Event() = default;
  /// Returns whether the event is reached. Any thread may call it.
  virtual bool test() = 0;
};
using Events = std::vector<std::shared_ptr<Event>>;

/// Waits until `event` is reached, by polling at growing intervals. Returns false after `limit_seconds`.
bool wait_within(Event& event, double limit_seconds);

/// Arguments of a reduction in GPU memory. The arrays ("parts") of several ranks are stored one after the other and reduced
/// element by element along the tree over rank numbers.
struct TreeReduction {
  const void* parts = nullptr;  ///< ranks * stride elements, on the stream's GPU
  std::size_t stride = 0;       ///< elements from one rank's part to the next one's
  int ranks = 1;
  void* out = nullptr;       ///< `count` elements; may be one of the parts
  std::size_t count = 0;     ///< elements of each part
  DType dtype = DType::f32;  ///< f64, f32, f16, bf16, i64, i32; f16 and bf16 are summed in f32 and rounded once
  Op op = Op::sum;
  int divide_by = 1;  ///< divisor of the result, for means
};

/// A queue of work that a GPU performs in order, while the host continues. Memory must stay valid until the work that uses
/// it is complete.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void to_host(void* to, const void* from, std::size_t bytes) = 0;
  virtual void to_device(void* to, const void* from, std::size_t bytes) = 0;
  virtual void within_device(void* to, const void* from, std::size_t bytes) = 0;
  /// Enqueues a reduction. The result has the same bits as on the CPU, except for the payload of NaNs.
  virtual void reduce(const TreeReduction& reduction) = 0;
  virtual std::shared_ptr<Event> record() = 0;
  /// Makes work that is enqueued after this call run after `event`.
  virtual void wait_for(const Event& event) = 0;
  /// Returns the stream for use by other libraries: a cudaStream_t.
  virtual void* handle() const = 0;
};

/// Properties of a GPU.
struct Gpu {
  int number = 0;  ///< CUDA's device number in this process
  std::string name;
  std::string uuid;  ///< unique, and the same in all processes
  std::size_t memory_bytes = 0;
};

/// Access to the GPUs that this process can use.
class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual std::string_view name() const = 0;
  virtual int count() = 0;                  ///< number of GPUs that this process can use; determined at the first call
  virtual std::string no_gpu_reason() = 0;  ///< why count() is 0, for messages; "" if it is not 0
  virtual std::string versions() = 0;       ///< for messages: "runtime 13.0, driver 13.0"
  virtual Gpu describe(int gpu) = 0;

  /// Returns the number of the GPU that owns the memory, or nullopt for host memory.
  virtual std::optional<int> owner_of(const void* memory) = 0;
  /// Makes `gpu` the current GPU of the calling thread, which libraries use by default.
  virtual void use(int gpu) = 0;

  virtual Memory allocate(int gpu, std::size_t bytes) = 0;  ///< GPU memory, zeroed and at least 256-byte aligned
  virtual Memory allocate_pinned(std::size_t bytes) = 0;    ///< host memory that GPUs can access directly
  /// Pins existing host memory. Returns false if the system refuses.
  virtual bool pin(std::span<std::byte> memory) = 0;
  virtual void unpin(std::span<std::byte> memory) noexcept = 0;

  virtual std::unique_ptr<Stream> make_stream(int gpu) = 0;
  /// Returns the stream that libraries use by default (CUDA's legacy default stream).
  virtual std::unique_ptr<Stream> default_stream(int gpu) = 0;
};

/// Returns the runtime of this process. This call itself uses neither a GPU nor the driver.
Runtime& runtime();

/// Makes runtime() return another runtime while this object lives. For tests.
class ReplacedRuntime {
 public:
  explicit ReplacedRuntime(Runtime& other);
  ~ReplacedRuntime();
  ReplacedRuntime(const ReplacedRuntime&) = delete;

 private:
  Runtime* before_;
};

}  // namespace trainrt::device
