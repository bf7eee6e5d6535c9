#include "checkpoint/save/results.hpp"

#include "checkpoint/collective.hpp"

namespace trainrt::checkpoint {

std::string packed(const Sealed& sealed) {
  Packer packer;
  packer.put(sealed.failure)
      .put(sealed.may_pass)
      .put(sealed.part.rank)
      .put(sealed.part.at)
      .put(sealed.part.bytes)
      .put(sealed.part.digest);
  packer.put(sealed.file_bytes);
  for (const auto& file : sealed.files) packer.put(file.name).put(file.bytes).put(file.digest).put(file.rank);
  return packer.bytes();
}

Sealed unpacked_sealed(std::string_view bytes) {
  Unpacker unpacker(bytes);
  Sealed sealed;
  sealed.failure = unpacker.text();
  sealed.may_pass = unpacker.number() != 0;
  sealed.part.rank = static_cast<int>(unpacker.number());
  sealed.part.at = static_cast<std::uint64_t>(unpacker.number());
  sealed.part.bytes = static_cast<std::uint64_t>(unpacker.number());
  sealed.part.digest = unpacker.text();
  sealed.file_bytes = static_cast<std::uint64_t>(unpacker.number());
  while (!unpacker.done()) {
    auto& file = sealed.files.emplace_back();
    file.name = unpacker.text();
    file.bytes = static_cast<std::uint64_t>(unpacker.number());
    file.digest = unpacker.text();
    file.rank = static_cast<int>(unpacker.number());
  }
  return sealed;
}

std::string packed(const SaveResult& result) {
  return Packer()
      .put(result.number)
      .put(result.committed)
      .put(result.directory)
      .put(result.error)
      .put(result.lost)
      .put(result.may_pass)
      .put(result.began_ms)
      .put(result.ended_ms)
      .put(result.bytes)
      .bytes();
}
SaveResult unpacked_result(std::string_view bytes) {
  Unpacker unpacker(bytes);
  SaveResult result;
  result.number = unpacker.number();
  result.committed = unpacker.number() != 0;
  result.directory = unpacker.text();
  result.error = unpacker.text();
  result.lost = unpacker.number() != 0;
  result.may_pass = unpacker.number() != 0;
  result.began_ms = unpacker.number();
  result.ended_ms = unpacker.number();
  result.bytes = static_cast<std::uint64_t>(unpacker.number());
  return result;
}

}  // namespace trainrt::checkpoint
