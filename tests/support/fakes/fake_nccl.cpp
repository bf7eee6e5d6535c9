// A libnccl.so.2 for tests: the ranks are threads of one process, the GPUs are FakeGpus. Like NCCL, it sums in its own
// order, rounds 16-bit floats at each step and loses NaNs in min and max.
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <thread>

#include "comm/nccl/api.hpp"
#include "core/float16.hpp"
#include "support/cpp/fake_gpus.hpp"

#ifndef FAKE_NCCL_VERSION
#define FAKE_NCCL_VERSION 22809
#endif

using trainrt::Float16;
using trainrt::comm::nccl::Config;
using trainrt::comm::nccl::RedOp;
using trainrt::comm::nccl::Result;
using trainrt::comm::nccl::Type;
using trainrt::comm::nccl::UniqueId;
using Bytes = std::vector<std::byte>;

namespace {

struct Group {
  std::mutex mutex;
  std::condition_variable changed;
  int size = 0;
  int joined = 0;
  std::map<std::string, Bytes> posted;  // kept until the process exits
};

std::mutex groups_mutex;
std::map<std::string, std::shared_ptr<Group>> groups;
std::atomic<int> next_id{1};
std::atomic<int> broken{0};  // the error that every communicator reports

std::size_t size_of(Type type) {
  switch (type) {
    case Type::u8:
      return 1;
    case Type::f16:
    case Type::bf16:
      return 2;
    case Type::i32:
    case Type::f32:
      return 4;
    default:
      return 8;
  }
}

template <class T>
T combined(T a, T b, RedOp op) {
  if constexpr (std::is_integral_v<T>) {
    if (op == RedOp::min) return std::min(a, b);
    if (op == RedOp::max) return std::max(a, b);
  } else {
    if (op == RedOp::min) return std::fmin(a, b);
    if (op == RedOp::max) return std::fmax(a, b);
  }
  return static_cast<T>(a + b);
}

template <class Stored, class T>
void reduce_as(std::vector<Bytes>& inputs, Bytes& out, RedOp op, T (*wide)(Stored), Stored (*narrow)(T)) {
  out = inputs.back();
  auto* to = reinterpret_cast<Stored*>(out.data());
  for (std::size_t rank = inputs.size() - 1; rank-- > 0;) {
    const auto* from = reinterpret_cast<const Stored*>(inputs[rank].data());
    for (std::size_t i = 0; i < out.size() / sizeof(Stored); ++i) to[i] = narrow(combined(wide(from[i]), wide(to[i]), op));
  }
  if (op == RedOp::avg)
    for (std::size_t i = 0; i < out.size() / sizeof(Stored); ++i)
      to[i] = narrow(static_cast<T>(wide(to[i]) / static_cast<T>(inputs.size())));
}

template <class T>
void reduce_plain(std::vector<Bytes>& inputs, Bytes& out, RedOp op) {
  reduce_as<T, T>(
      inputs, out, op, [](T v) { return v; }, [](T v) { return v; });
}

void reduce(std::vector<Bytes>& inputs, Bytes& out, Type type, RedOp op) {
  switch (type) {
    case Type::f64:
      return reduce_plain<double>(inputs, out, op);
    case Type::f32:
      return reduce_plain<float>(inputs, out, op);
    case Type::i64:
      return reduce_plain<std::int64_t>(inputs, out, op);
    case Type::i32:
      return reduce_plain<std::int32_t>(inputs, out, op);
    case Type::f16:
      return reduce_as<Float16, float>(
          inputs, out, op, [](Float16 v) { return static_cast<float>(v); },
          [](float v) { return static_cast<Float16>(v); });
    default:
      return reduce_as<std::uint16_t, float>(
          inputs, out, op, [](std::uint16_t v) { return std::bit_cast<float>(static_cast<std::uint32_t>(v) << 16); },
          [](float v) { return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(v) + 0x8000U) >> 16); });
  }
}

/// One NCCL call on a stream, in two steps: `give` posts the data of this rank; `take` reads the data of the other
/// ranks, and runs after all ranks of the group have posted theirs.
struct Work {
  std::function<void(trainrt::test::FakeQueue&)> give, take;
};
struct Grouped {
  trainrt::test::FakeQueue* queue = nullptr;
  std::vector<Work> work;
  int depth = 0;
};
thread_local Grouped grouped;

}  // namespace

namespace trainrt::comm::nccl {

struct Comm {
  std::shared_ptr<Group> group;
  int rank = 0;
  std::atomic<bool> aborted{false};
  std::map<std::string, int> sequence;  // next number of a collective, and of a message to and from each peer

  std::string next(const std::string& what) { return what + "#" + std::to_string(sequence[what]++); }
  void post(const std::string& key, Bytes bytes) {
    const std::lock_guard lock(group->mutex);
    group->posted[key] = std::move(bytes);
    group->changed.notify_all();
  }
  /// Waits for the data posted as `key`, and returns it. Returns nullopt if the communicator is aborted first.
  std::optional<Bytes> await(const std::string& key) {
    std::unique_lock lock(group->mutex);
    while (!group->posted.contains(key)) {
      if (aborted) return std::nullopt;
      group->changed.wait_for(lock, std::chrono::milliseconds(2));
    }
    return group->posted[key];
  }
};

}  // namespace trainrt::comm::nccl

using trainrt::comm::nccl::Comm;

namespace {

// Communicators outlive their handles, because work of an aborted one may still be on a stream.
std::mutex comms_mutex;
std::vector<std::shared_ptr<Comm>> comms;

std::shared_ptr<Comm> owned(Comm* comm) {
  const std::lock_guard lock(comms_mutex);
  for (const auto& known : comms)
    if (known.get() == comm) return known;
  return nullptr;
}

void end_group() {
  auto work = std::move(grouped.work);
  grouped.work.clear();
  if (work.empty()) return;
  grouped.queue->enqueue([queue = grouped.queue, work = std::move(work)] {
    for (const auto& one : work) one.give(*queue);
    for (const auto& one : work) one.take(*queue);
  });
}

Result add(void* stream, Work work) {
  grouped.queue = static_cast<trainrt::test::FakeQueue*>(stream);
  grouped.work.push_back(std::move(work));
  if (grouped.depth == 0) end_group();
  return Result::success;
}

Bytes read(trainrt::test::FakeQueue& queue, const void* from, std::size_t bytes) {
  const auto* data = queue.behind(from);
  return Bytes(data, data + bytes);
}
void write(trainrt::test::FakeQueue& queue, void* to, const Bytes& bytes) {
  if (!bytes.empty()) std::memcpy(queue.behind(to), bytes.data(), bytes.size());
}

std::string of_rank(const std::string& key, int rank) { return key + "/" + std::to_string(rank); }

Result reduce_to(const void* from, void* to, std::size_t count, Type type, RedOp op, Comm* comm, void* stream, bool takes) {
  const auto c = owned(comm);
  const auto key = c->next("collective");
  const auto bytes = count * size_of(type);
  return add(stream, {[=](auto& queue) { c->post(of_rank(key, c->rank), read(queue, from, bytes)); },
                      [=](auto& queue) {
                        if (!takes) return;
                        std::vector<Bytes> inputs;
                        for (int rank = 0; rank < c->group->size; ++rank) {
                          auto input = c->await(of_rank(key, rank));
                          if (!input) return;
                          inputs.push_back(std::move(*input));
                        }
                        Bytes out;
                        reduce(inputs, out, type, op);
                        write(queue, to, out);
                      }});
}

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default")))

/// Makes every communicator report `result`, an error, until fakeNcclBreak(0) is called.
FAKE void fakeNcclBreak(int result) { broken = result; }

FAKE Result ncclGetVersion(int* version) {
  *version = FAKE_NCCL_VERSION;
  return Result::success;
}
FAKE Result ncclGetUniqueId(UniqueId* id) {
  std::snprintf(id->bytes, sizeof id->bytes, "fake-%d", next_id++);
  return Result::success;
}
FAKE Result ncclCommInitRankConfig(Comm** comm, int ranks, UniqueId id, int rank, Config* config) {
  if (config->blocking != 0 || config->magic != 0xcafebeef) return Result::invalid_argument;
  auto made = std::make_shared<Comm>();
  {
    const std::lock_guard lock(groups_mutex);
    auto& group = groups[id.bytes];
    if (group == nullptr) group = std::make_shared<Group>();
    made->group = group;
  }
  made->rank = rank;
  {
    const std::lock_guard lock(made->group->mutex);
    made->group->size = ranks;
    ++made->group->joined;
  }
  const std::lock_guard lock(comms_mutex);
  *comm = comms.emplace_back(std::move(made)).get();
  return Result::in_progress;
}
FAKE Result ncclCommFinalize(Comm*) { return Result::in_progress; }
FAKE Result ncclCommDestroy(Comm*) { return Result::success; }
FAKE Result ncclCommAbort(Comm* comm) {
  comm->aborted = true;
  return Result::success;
}
FAKE Result ncclCommGetAsyncError(Comm* comm, Result* result) {
  const std::lock_guard lock(comm->group->mutex);
  *result = comm->group->joined < comm->group->size ? Result::in_progress : static_cast<Result>(broken.load());
  return Result::success;
}
FAKE const char* ncclGetErrorString(Result result) {
  return result == Result::remote_error ? "remote process exited or there was a network error" : "some error";
}
FAKE const char* ncclGetLastError(Comm*) { return "the fake fails on request"; }

FAKE Result ncclAllReduce(const void* from, void* to, std::size_t count, Type type, RedOp op, Comm* comm, void* stream) {
  return reduce_to(from, to, count, type, op, comm, stream, true);
}
FAKE Result ncclReduce(const void* from, void* to, std::size_t count, Type type, RedOp op, int root, Comm* comm,
                       void* stream) {
  return reduce_to(from, to, count, type, op, comm, stream, comm->rank == root);
}
FAKE Result ncclBroadcast(const void* from, void* to, std::size_t count, Type type, int root, Comm* comm, void* stream) {
  const auto c = owned(comm);
  const auto key = c->next("collective");
  const auto bytes = count * size_of(type);
  return add(stream, {[=](auto& queue) {
                        if (c->rank == root) c->post(key, read(queue, from, bytes));
                      },
                      [=](auto& queue) {
                        if (const auto got = c->await(key)) write(queue, to, *got);
                      }});
}
FAKE Result ncclSend(const void* from, std::size_t count, Type type, int peer, Comm* comm, void* stream) {
  const auto c = owned(comm);
  const auto key = c->next("message " + std::to_string(c->rank) + " to " + std::to_string(peer));
  const auto bytes = count * size_of(type);
  return add(stream, {[=](auto& queue) { c->post(key, read(queue, from, bytes)); }, [](auto&) {}});
}
FAKE Result ncclRecv(void* to, std::size_t count, Type type, int peer, Comm* comm, void* stream) {
  const auto c = owned(comm);
  const auto key = c->next("message " + std::to_string(peer) + " to " + std::to_string(c->rank));
  const auto bytes = count * size_of(type);
  return add(stream, {[](auto&) {},
                      [=](auto& queue) {
                        const auto got = c->await(key);
                        if (got && got->size() == bytes) write(queue, to, *got);
                      }});
}
FAKE Result ncclGroupStart() {
  ++grouped.depth;
  return Result::success;
}
FAKE Result ncclGroupEnd() {
  if (--grouped.depth == 0) end_group();
  return Result::in_progress;
}
