#include "data/batches/pinning.hpp"

#include <map>
#include <mutex>

#include <trainrt/dataset.hpp>

#include "unit/data/npy_bytes.hpp"
#include "unit/data/support.hpp"

using namespace data_test;

namespace {

/// A fake GPU driver that records the locked memory.
class Locks {
 public:
  std::shared_ptr<const data::Pinning> pinning() {
    return std::make_shared<const data::Pinning>(data::Pinning{[this](std::span<std::byte> memory) { return pin(memory); },
                                                               [this](std::span<std::byte> memory) { unpin(memory); }});
  }
  bool holds(const void* memory, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto* const at = static_cast<const std::byte*>(memory);
    const auto after = locked_.upper_bound(at);
    return after != locked_.begin() && at + bytes <= std::prev(after)->first + std::prev(after)->second;
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return locked_.size();
  }
  int calls = 0, unknown = 0;
  bool is_refused = false;

 private:
  bool pin(std::span<std::byte> memory) {
    const std::lock_guard lock(mutex_);
    ++calls;
    return !is_refused && locked_.emplace(memory.data(), memory.size()).second;
  }
  void unpin(std::span<std::byte> memory) {
    const std::lock_guard lock(mutex_);
    if (locked_.erase(memory.data()) == 0) ++unknown;
  }
  std::mutex mutex_;
  std::map<const std::byte*, std::size_t> locked_;
};

struct Seen {
  std::size_t batches = 0, locked = 0;
  double sum = 0;
  bool operator==(const Seen&) const = default;
};

constexpr std::size_t row = 784;

/// Reads one epoch of 1,000 rows of bytes from a file. Counts the batches, and those in memory that `locks` has locked.
Seen walk(const Scratch& dir, const std::map<std::string, std::string>& keys,
          const std::shared_ptr<const data::Pinning>& pinning, Locks& locks, std::size_t batch_size = 64) {
  std::string values(1000 * row, '\0');
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<char>(i % 251);
  write(dir / "x.npy", npy_bytes("{'descr': '|u1', 'fortran_order': False, 'shape': (1000, 784)}", values));
  auto section = keys;
  section.insert({{"source", dir / "x.npy"}, {"memory", "0"}, {"shuffle", "true"}});
  const auto impl = open(section);
  auto plan = impl->plan();
  plan.pinning = pinning;
  impl->replace(std::move(plan));
  const auto name = Dataset(impl).fields().front().name;
  Seen seen;
  for (const auto& batch : Dataset(impl).epoch(0).batches(batch_size, Remainder::uneven)) {
    const auto view = batch.field(name);
    ++seen.batches;
    seen.locked += locks.holds(view.data, batch.size() * row * size_of(view.dtype)) ? 1 : 0;
    for (std::size_t i = 0; i < batch.size() * row; ++i)
      seen.sum += view.dtype == DType::f32 ? static_cast<const float*>(view.data)[i]
                                           : static_cast<const std::uint8_t*>(view.data)[i];
  }
  return seen;
}

}  // namespace

TEST_CASE("the memory of all batches is locked for a GPU, and unlocked at the end of the epoch") {
  const Scratch dir;
  Locks locks;
  for (const std::string threads : {"0", "2"})
    for (const std::string cast : {"", "data: f32"}) {
      INFO(threads << " threads, cast " << cast);
      std::map<std::string, std::string> keys{{"threads", threads}};
      if (!cast.empty()) keys["cast"] = cast;
      const auto without = walk(dir, keys, nullptr, locks);
      const auto with = walk(dir, keys, locks.pinning(), locks);
      CHECK(without.locked == 0);
      CHECK(with.batches == 16);
      CHECK(with.locked == with.batches);
      CHECK(with.sum == without.sum);
      CHECK(locks.count() == 0);
    }
  CHECK(locks.calls > 0);
  CHECK(locks.unknown == 0);
}

TEST_CASE("memory that the system does not lock, and small batches, are used without a lock") {
  const Scratch dir;
  Locks locks;
  locks.is_refused = true;
  CHECK(walk(dir, {}, locks.pinning(), locks).batches == 16);
  CHECK(locks.calls > 0);
  CHECK(locks.calls < 16 * 2);  // once for each memory, not for each batch
  locks.calls = 0;
  CHECK(walk(dir, {}, locks.pinning(), locks, 4).batches == 250);
  CHECK(locks.calls == 0);
}
