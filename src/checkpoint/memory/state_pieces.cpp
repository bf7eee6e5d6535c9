#include "checkpoint/memory/state_pieces.hpp"

#include <algorithm>
#include <string_view>

#include "checkpoint/collective.hpp"
#include "checkpoint/replicas.hpp"
#include "checkpoint/value_bytes.hpp"

namespace trainrt::checkpoint {

namespace {

StatePieces::Piece memory_of(const TensorEntry& entry) {
  return {static_cast<std::byte*>(entry.local.data), entry.local.bytes()};
}

std::uint64_t total(const std::vector<StatePieces::Piece>& pieces) {
  std::uint64_t bytes = 0;
  for (const auto& piece : pieces) bytes += piece.size();
  return bytes;
}

void put_layout(Packer& packer, const TensorEntry& entry) {
  packer.all(entry.name, static_cast<int>(entry.local.dtype), entry.local.shape, static_cast<int>(entry.placement),
             entry.global_shape, entry.offset);
}

void assign(std::string& value, const std::string& bytes) { value = bytes; }
void assign(bool& value, const std::string& bytes) { value = number_from<char>(bytes) != 0; }
void assign(double& value, const std::string& bytes) { value = number_from<double>(bytes); }
template <class Integer>
void assign(Integer& value, const std::string& bytes) {
  value = static_cast<Integer>(number_from<std::int64_t>(bytes));
}

}  // namespace

StatePieces::StatePieces(const State& state) {
  Packer packer;
  for (const auto& entry : state.tensors()) {
    put_layout(packer, entry);
    if (entry.placement != Placement::replicated) own.push_back(memory_of(entry));
  }
  for (const auto* entry : replicated_tensors(state)) common.push_back(memory_of(*entry));
  for (const auto& entry : state.values()) packer.all(entry.name, dtype_of(entry));
  own_bytes = total(own);
  common_bytes = total(common);
  layout = packer.bytes();
}

std::uint64_t StatePieces::share_begin(int rank, int ranks) const {
  const auto index = static_cast<std::uint64_t>(rank), count = static_cast<std::uint64_t>(ranks);
  return common_bytes / count * index + std::min(index, common_bytes % count);
}

void for_each_part(std::span<const StatePieces::Piece> pieces, std::uint64_t begin, std::uint64_t end,
                   const std::function<void(StatePieces::Piece)>& visit) {
  std::uint64_t at = 0;
  for (const auto& piece : pieces) {
    const auto first = std::max(begin, at), last = std::min<std::uint64_t>(end, at + piece.size());
    if (first < last) visit(piece.subspan(first - at, last - first));
    at += piece.size();
  }
}

std::string packed_values(const State& state) {
  Packer packer;
  for (const auto& entry : state.values()) packer.put(bytes_of(entry));
  return packer.bytes();
}

void set_values(const State& state, std::string_view packed) {
  Unpacker unpacker(packed);
  for (const auto& entry : state.values())
    std::visit([bytes = unpacker.text()](auto* value) { assign(*value, bytes); }, entry.value);
}

}  // namespace trainrt::checkpoint
