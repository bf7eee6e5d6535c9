#include <trainrt/communicator.hpp>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>

#include <trainrt/error.hpp>

namespace trainrt {

std::string_view name_of(Collective::Kind kind) {
  constexpr std::string_view names[] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast", "barrier"};
  return names[static_cast<std::size_t>(kind)];
}

Communicator::~Communicator() = default;

void Communicator::run(const Collective& collective) { wait(start(collective)); }

void Communicator::all_reduce(Buffer buffer, Op op, std::string_view name) {
  run({.kind = Collective::Kind::all_reduce, .buffer = buffer, .op = op, .name = name});
}

void Communicator::reduce_scatter(Buffer input, std::span<const std::size_t> counts, void* part, Op op,
                                  std::string_view name) {
  run({.kind = Collective::Kind::reduce_scatter, .buffer = input, .part = part, .counts = counts, .op = op, .name = name});
}

void Communicator::all_gather(const void* part, std::span<const std::size_t> counts, Buffer output, std::string_view name) {
  run({.kind = Collective::Kind::all_gather,
       .buffer = output,
       .part = const_cast<void*>(part),  // an all_gather only reads this memory
       .counts = counts,
       .name = name});
}

std::vector<std::string> Communicator::all_gather(std::string_view bytes) {
  const auto ranks = static_cast<std::size_t>(size());
  const std::vector<std::size_t> one(ranks, 1);
  const auto mine = static_cast<std::int64_t>(bytes.size());
  std::vector<std::int64_t> lengths(ranks);
  all_gather(&mine, one, Buffer{lengths.data(), ranks, DType::i64}, "lengths");
  const std::vector<std::size_t> counts(lengths.begin(), lengths.end());
  std::string all(std::accumulate(counts.begin(), counts.end(), std::size_t{0}), '\0');
  all_gather(bytes.data(), counts, Buffer{all.data(), all.size(), DType::u8}, "bytes");
  std::vector<std::string> parts;
  std::size_t offset = 0;
  for (const auto count : counts) {
    parts.push_back(all.substr(offset, count));
    offset += count;
  }
  return parts;
}

void Communicator::broadcast(Buffer buffer, int root, std::string_view name) {
  run({.kind = Collective::Kind::broadcast, .buffer = buffer, .root = root, .name = name});
}

/// A text of up to 1016 bytes is broadcast together with its length, in one call. A longer text needs a second broadcast.
std::string Communicator::broadcast_text(std::string text, int root) {
  std::array<char, 1024> head{};
  auto length = static_cast<std::uint64_t>(text.size());
  constexpr auto max_length = head.size() - sizeof length;
  std::memcpy(head.data(), &length, sizeof length);
  text.copy(head.data() + sizeof length, max_length);
  broadcast(Buffer{head.data(), head.size(), DType::u8}, root);
  std::memcpy(&length, head.data(), sizeof length);
  text.resize(length);
  if (length > max_length)
    broadcast(Buffer{text.data(), text.size(), DType::u8}, root);
  else
    text.assign(head.data() + sizeof length, length);
  return text;
}

void Communicator::barrier(std::string_view name) { run({.kind = Collective::Kind::barrier, .name = name}); }

Memory Communicator::allocate(std::size_t bytes, Device device) {
  if (device != Device::host)
    throw UsageError("the backend '" + std::string(this->name()) + "' cannot allocate memory on " +
                     std::string(name_of(device)));
  constexpr std::size_t alignment = 64;
  const auto rounded = (bytes + alignment - 1) / alignment * alignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded));
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, rounded);
  return Memory(memory, [](std::byte* p) { std::free(p); });
}

}  // namespace trainrt
