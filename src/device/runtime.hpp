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

// What trainrt needs of GPUs. CUDA is one kind; a machine without a GPU is another, of which there are none; tests have a
// fake one. Failures of a device throw Error that says in which call.

/// A point in a stream's work.
class Event {
 public:
  virtual ~Event() = default;
  /// All that was enqueued before it has run. Any thread may ask.
  virtual bool test() = 0;
};
using Events = std::vector<std::shared_ptr<Event>>;

/// Asks until it has come, with naps that grow with the wait; false if limit_seconds pass.
bool wait_within(Event& event, double limit_seconds);

/// Parts of as many ranks, one behind the other, to be reduced element by element along the one tree over rank numbers.
struct TreeReduction {
  const void* parts = nullptr;  ///< ranks * stride elements, on the stream's GPU
  std::size_t stride = 0;       ///< elements from one rank's part to the next one's
  int ranks = 1;
  void* out = nullptr;  ///< may be a part
  std::size_t count = 0;
  DType dtype = DType::f32;  ///< f64, f32, f16, bf16, i64, i32; f16 and bf16 are summed in f32 and rounded once
  Op op = Op::sum;
  int divide_by = 1;  ///< of a mean
};

/// Work that a GPU does in the order it was given, while the host goes on. Memory must stay until that is done.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void to_host(void* to, const void* from, std::size_t bytes) = 0;
  virtual void to_device(void* to, const void* from, std::size_t bytes) = 0;
  virtual void within_device(void* to, const void* from, std::size_t bytes) = 0;
  /// The same bits as the backends on the CPU give (but for the payload of a NaN).
  virtual void reduce(const TreeReduction& reduction) = 0;
  virtual std::shared_ptr<Event> record() = 0;
  /// What is given to this stream from now on runs after that event.
  virtual void wait_for(const Event& event) = 0;
  /// What libraries call a stream: a cudaStream_t.
  virtual void* handle() const = 0;
};

struct Gpu {
  int number = 0;  ///< CUDA's, in this process
  std::string name;
  std::string uuid;  ///< tells it from every other GPU, also across processes
  std::size_t memory_bytes = 0;
};

class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual std::string_view name() const = 0;
  virtual int count() = 0;             ///< GPUs that this process sees; asked once, at the first call
  virtual std::string why_none() = 0;  ///< if there are none, for messages; else ""
  virtual std::string versions() = 0;  ///< "runtime 13.0, driver 13.0", for people
  virtual Gpu describe(int gpu) = 0;

  /// The GPU that the memory belongs to; nullopt for memory of the host.
  virtual std::optional<int> owner_of(const void* memory) = 0;
  /// The GPU that libraries take in this thread if they are told of none.
  virtual void use(int gpu) = 0;

  virtual Memory allocate(int gpu, std::size_t bytes) = 0;  ///< zeroed, at least 256-byte aligned
  virtual Memory allocate_pinned(std::size_t bytes) = 0;  ///< of the host, that the GPUs can copy from and to by themselves
  /// Makes memory of the host such memory; false if the system does not let it.
  virtual bool pin(std::span<std::byte> memory) = 0;
  virtual void unpin(std::span<std::byte> memory) noexcept = 0;

  virtual std::unique_ptr<Stream> make_stream(int gpu) = 0;
  /// Where libraries put their work unless they are told otherwise (CUDA's legacy default stream).
  virtual std::unique_ptr<Stream> default_stream(int gpu) = 0;
};

/// This process's. The first call does nothing with a GPU or a driver: only what is asked of it does.
Runtime& runtime();

/// For tests: while it lives, runtime() is another one.
class ReplacedRuntime {
 public:
  explicit ReplacedRuntime(Runtime& other);
  ~ReplacedRuntime();
  ReplacedRuntime(const ReplacedRuntime&) = delete;

 private:
  Runtime* before_;
};

}  // namespace trainrt::device
