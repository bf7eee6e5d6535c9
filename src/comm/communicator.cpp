#include <trainrt/communicator.hpp>

#include <cstdlib>
#include <cstring>
#include <new>

namespace trainrt {

std::string_view name_of(Op op) {
  switch (op) {
    case Op::sum:
      return "sum";
    case Op::mean:
      return "mean";
    case Op::min:
      return "min";
    case Op::max:
      return "max";
  }
  return "?";
}

Communicator::~Communicator() = default;

std::string Communicator::broadcast_text(std::string text, int root) {
  std::int64_t length = static_cast<std::int64_t>(text.size());
  broadcast(Buffer{&length, 1, DType::i64}, root);
  text.resize(static_cast<std::size_t>(length));
  if (length > 0) broadcast(Buffer{text.data(), text.size(), DType::u8}, root);
  return text;
}

Memory Communicator::allocate(std::size_t bytes) {
  constexpr std::size_t alignment = 64;
  const auto rounded = (bytes + alignment - 1) / alignment * alignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded));
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, rounded);
  return Memory(memory, [](std::byte* p) { std::free(p); });
}

}  // namespace trainrt
