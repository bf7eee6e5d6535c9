#pragma once
#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <trainrt/error.hpp>
#include <vector>

#include "core/float16.hpp"
#include "device/runtime.hpp"

namespace trainrt::test {

/// The handle() of a stream of FakeGpus, by which other fakes enqueue work on the stream.
class FakeQueue {
 public:
  virtual ~FakeQueue() = default;
  virtual void enqueue(std::function<void()> work) = 0;
  virtual std::byte* behind(const void* address) = 0;  ///< host memory that holds the bytes of device memory
};

/// GPUs that are threads. Their memory has protected addresses: code that uses it as host memory crashes. All work is
/// delayed, so that code that does not wait reads the previous bytes.
class FakeGpus : public device::Runtime {
 public:
  explicit FakeGpus(int count = 1, std::chrono::microseconds delay = std::chrono::microseconds(200))
      : count_(count), delay_(delay) {
    for (int gpu = 0; gpu < count; ++gpu) defaults_.push_back(std::make_shared<Queue>(*this));
  }

  std::string_view name() const override { return "fake"; }
  int count() override { return count_; }
  std::string no_gpu_reason() override { return count_ == 0 ? "the test has no GPUs" : ""; }
  std::string versions() override { return "fake"; }
  device::Gpu describe(int gpu) override { return {gpu, "Fake GPU", "fake-" + std::to_string(gpu), std::size_t{1} << 30}; }
  std::optional<int> owner_of(const void* memory) override {
    const std::lock_guard lock(mutex_);
    const auto* range = find(memory);
    return range == nullptr ? std::nullopt : std::optional<int>(range->gpu);
  }
  void use(int gpu) override {
    if (gpu >= count_) throw Error("no such fake GPU");
  }

  Memory allocate(int gpu, std::size_t bytes) override {
    const auto length = (bytes / 4096 + 1) * 4096;
    void* address = ::mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) throw Error("no address space");
    auto* const begin = static_cast<std::byte*>(address);
    {
      const std::lock_guard lock(mutex_);
      memory_[begin] = {gpu, std::make_unique<std::vector<std::byte>>(bytes, std::byte{0xA5})};
    }
    defaults_.at(static_cast<std::size_t>(gpu))->enqueue([this, begin, bytes] {
      std::fill_n(behind(begin), bytes, std::byte{0});
    });
    return Memory(begin, [this, gpu, length](std::byte* p) {
      finish(gpu);  // waits for all work, as cudaFree does
      const std::lock_guard own(mutex_);
      memory_.erase(p);
      ::munmap(p, length);
    });
  }
  Memory allocate_pinned(std::size_t bytes) override {
    auto* memory = new std::byte[std::max<std::size_t>(bytes, 1)];
    return Memory(memory, [](std::byte* p) { delete[] p; });
  }
  bool pin(std::span<std::byte> memory) override {
    const std::lock_guard lock(mutex_);
    if (!can_pin) return false;
    if (!pinned_.insert(memory.data()).second) throw Error("pinned twice");
    return true;
  }
  void unpin(std::span<std::byte> memory) noexcept override {
    const std::lock_guard lock(mutex_);
    pinned_.erase(memory.data());
  }
  std::size_t pinned() {
    const std::lock_guard lock(mutex_);
    return pinned_.size();
  }

  std::unique_ptr<device::Stream> make_stream(int gpu) override {
    ++streams;
    auto queue = std::make_shared<Queue>(*this);
    const std::lock_guard lock(mutex_);
    queues_.push_back({gpu, queue});
    return std::make_unique<FakeStream>(*this, queue);
  }
  std::unique_ptr<device::Stream> default_stream(int gpu) override {
    return std::make_unique<FakeStream>(*this, defaults_.at(static_cast<std::size_t>(gpu)));
  }

  /// Returns the host memory that holds the bytes of device memory.
  std::byte* behind(const void* address) {
    const std::lock_guard lock(mutex_);
    const auto found = memory_.upper_bound(static_cast<const std::byte*>(address));
    if (found == memory_.begin()) throw Error("not device memory");
    const auto& [begin, range] = *std::prev(found);
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - begin);
    if (offset > range.bytes->size()) throw Error("not device memory");
    return range.bytes->data() + offset;
  }

  std::atomic<bool> can_pin{true};
  std::atomic<bool> stalled{false};  ///< while set, no work is done
  std::atomic<int> streams{0};       ///< number of streams made so far
  std::atomic<std::size_t> bytes_to_host{0}, bytes_to_device{0};

 private:
  struct Range {
    int gpu = 0;
    std::unique_ptr<std::vector<std::byte>> bytes;
  };
  const Range* find(const void* address) const {
    const auto found = memory_.upper_bound(static_cast<const std::byte*>(address));
    if (found == memory_.begin()) return nullptr;
    const auto& [begin, range] = *std::prev(found);
    return static_cast<const std::byte*>(address) < begin + range.bytes->size() ? &range : nullptr;
  }

  /// A queue of work that one thread executes in order.
  class Queue : public FakeQueue {
   public:
    explicit Queue(FakeGpus& gpus) : gpus_(gpus), thread_([this] { work(); }) {}
    ~Queue() override {
      {
        const std::lock_guard lock(mutex_);
        ending_ = true;
      }
      wake_.notify_one();
      thread_.join();
    }
    void enqueue(std::function<void()> task) override {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
      wake_.notify_one();
    }
    std::byte* behind(const void* address) override { return gpus_.behind(address); }

   private:
    void work() {
      for (;;) {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        const auto task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        std::this_thread::sleep_for(gpus_.delay_);
        while (gpus_.stalled && !ending_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        task();
      }
    }
    FakeGpus& gpus_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> tasks_;
    std::atomic<bool> ending_{false};
    std::thread thread_;
  };

  struct Flag {
    std::mutex mutex;
    std::condition_variable changed;
    bool set = false;
  };
  class FakeEvent : public device::Event {
   public:
    bool test() override {
      const std::lock_guard lock(flag->mutex);
      return flag->set;
    }
    std::shared_ptr<Flag> flag = std::make_shared<Flag>();
  };

  class FakeStream : public device::Stream {
   public:
    FakeStream(FakeGpus& gpus, std::shared_ptr<Queue> queue) : gpus_(gpus), queue_(std::move(queue)) {}
    void to_host(void* to, const void* from, std::size_t bytes) override {
      if (bytes == 0) return;
      require(gpus_.owner_of(from).has_value() && !gpus_.owner_of(to), "to_host");
      queue_->enqueue([this_gpus = &gpus_, to, from, bytes] {
        std::memcpy(to, this_gpus->behind(from), bytes);
        this_gpus->bytes_to_host += bytes;
      });
    }
    void to_device(void* to, const void* from, std::size_t bytes) override {
      if (bytes == 0) return;
      require(gpus_.owner_of(to).has_value() && !gpus_.owner_of(from), "to_device");
      queue_->enqueue([this_gpus = &gpus_, to, from, bytes] {
        std::memcpy(this_gpus->behind(to), from, bytes);
        this_gpus->bytes_to_device += bytes;
      });
    }
    void within_device(void* to, const void* from, std::size_t bytes) override {
      if (bytes == 0) return;
      require(gpus_.owner_of(to).has_value() && gpus_.owner_of(from).has_value(), "within_device");
      queue_->enqueue(
          [this_gpus = &gpus_, to, from, bytes] { std::memmove(this_gpus->behind(to), this_gpus->behind(from), bytes); });
    }
    void reduce(const device::TreeReduction& reduction) override {
      queue_->enqueue([this_gpus = &gpus_, reduction] { reduce_now(*this_gpus, reduction); });
    }
    std::shared_ptr<device::Event> record() override {
      auto event = std::make_shared<FakeEvent>();
      queue_->enqueue([flag = event->flag] {
        const std::lock_guard lock(flag->mutex);
        flag->set = true;
        flag->changed.notify_all();
      });
      return event;
    }
    void wait_for(const device::Event& event) override {
      queue_->enqueue([flag = dynamic_cast<const FakeEvent&>(event).flag] {
        std::unique_lock lock(flag->mutex);
        flag->changed.wait_for(lock, std::chrono::seconds(30), [&] { return flag->set; });
      });
    }
    void* handle() const override { return static_cast<FakeQueue*>(queue_.get()); }

   private:
    static void require(bool right, const char* what) {
      if (!right) throw Error(std::string("fake ") + what + ": that is not memory of that kind");
    }
    FakeGpus& gpus_;
    std::shared_ptr<Queue> queue_;
  };

  void finish(int gpu) {
    std::vector<std::shared_ptr<Queue>> queues = {defaults_.at(static_cast<std::size_t>(gpu))};
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [owner, queue] : queues_)
        if (auto alive = queue.lock(); alive && owner == gpu) queues.push_back(std::move(alive));
    }
    for (auto& queue : queues) device::wait_within(*FakeStream(*this, queue).record(), 30);
  }

  // --- sums, in the order of the communicator's contract ---

  template <class T>
  static T tree(const std::function<T(int)>& value, Op op, int first, int width, int ranks) {
    if (width == 1) return value(first);
    const T lower = tree(value, op, first, width / 2, ranks);
    if (first + width / 2 >= ranks) return lower;
    const T upper = tree(value, op, first + width / 2, width / 2, ranks);
    if (op == Op::min) return upper != upper || upper < lower ? upper : lower;
    if (op == Op::max) return upper != upper || upper > lower ? upper : lower;
    return static_cast<T>(lower + upper);
  }
  template <class Stored, class T>
  static void reduce_as(FakeGpus& gpus, const device::TreeReduction& r, T (*wide)(Stored), Stored (*narrow)(T)) {
    const auto* parts = reinterpret_cast<const Stored*>(gpus.behind(r.parts));
    auto* out = reinterpret_cast<Stored*>(gpus.behind(r.out));
    for (std::size_t i = 0; i < r.count; ++i) {
      const auto value = [&](int rank) { return wide(parts[static_cast<std::size_t>(rank) * r.stride + i]); };
      T result = tree<T>(value, r.op, 0, static_cast<int>(std::bit_ceil(static_cast<unsigned>(r.ranks))), r.ranks);
      if (r.divide_by != 1) result = static_cast<T>(result / static_cast<T>(r.divide_by));
      out[i] = narrow(result);
    }
  }
  template <class T>
  static void reduce_plain(FakeGpus& gpus, const device::TreeReduction& r) {
    reduce_as<T, T>(
        gpus, r, [](T v) { return v; }, [](T v) { return v; });
  }
  static void reduce_now(FakeGpus& gpus, const device::TreeReduction& r) {
    if (r.count == 0) return;
    if (r.dtype == DType::f64) return reduce_plain<double>(gpus, r);
    if (r.dtype == DType::f32) return reduce_plain<float>(gpus, r);
    if (r.dtype == DType::i64) return reduce_plain<std::int64_t>(gpus, r);
    if (r.dtype == DType::i32) return reduce_plain<std::int32_t>(gpus, r);
    if (r.dtype == DType::f16)
      return reduce_as<Float16, float>(
          gpus, r, [](Float16 v) { return static_cast<float>(v); }, [](float v) { return static_cast<Float16>(v); });
    reduce_as<std::uint16_t, float>(
        gpus, r, [](std::uint16_t v) { return std::bit_cast<float>(static_cast<std::uint32_t>(v) << 16); },
        [](float v) {
          const auto bits = std::bit_cast<std::uint32_t>(v);
          if (v != v) return static_cast<std::uint16_t>((bits | 0x400000U) >> 16);
          return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
        });
  }

  int count_;
  std::chrono::microseconds delay_;
  std::mutex mutex_;
  std::map<const std::byte*, Range> memory_;
  std::set<const std::byte*> pinned_;
  std::vector<std::pair<int, std::weak_ptr<Queue>>> queues_;  // queue and GPU of each stream
  std::vector<std::shared_ptr<Queue>> defaults_;              // the last member, so that it is destroyed first
};

}  // namespace trainrt::test
