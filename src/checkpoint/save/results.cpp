#include "checkpoint/save/results.hpp"

#include "checkpoint/collective.hpp"

namespace trainrt::checkpoint {

namespace {

/// Serializes or deserializes the members of a Sealed, except its files. `archive`: a Packer or an Unpacker.
template <class Archive, class Value>
void transfer_sealed(Archive& archive, Value& sealed) {
  auto& [rank, at, bytes, digest] = sealed.part;
  archive.all(sealed.failure, sealed.is_transient, sealed.is_full, rank, at, bytes, digest, sealed.file_bytes);
}

/// Serializes or deserializes the members of a SaveResult. `archive`: a Packer or an Unpacker.
template <class Archive, class Value>
void transfer_result(Archive& archive, Value& result) {
  archive.all(result.number, result.committed, result.directory, result.error, result.lost, result.is_transient,
              result.is_full, result.began_ms, result.ended_ms, result.bytes);
}

}  // namespace

std::string packed(const Sealed& sealed) {
  Packer packer;
  transfer_sealed(packer, sealed);
  for (const auto& [name, bytes, digest, rank] : sealed.files) packer.all(name, bytes, digest, rank);
  return packer.bytes();
}

Sealed unpacked_sealed(std::string_view bytes) {
  Unpacker unpacker(bytes);
  Sealed sealed;
  transfer_sealed(unpacker, sealed);
  while (!unpacker.done()) {
    auto& file = sealed.files.emplace_back();
    unpacker.all(file.name, file.bytes, file.digest, file.rank);
  }
  return sealed;
}

std::string packed(const SaveResult& result) {
  Packer packer;
  transfer_result(packer, result);
  return packer.bytes();
}

SaveResult unpacked_result(std::string_view bytes) {
  Unpacker unpacker(bytes);
  SaveResult result;
  transfer_result(unpacker, result);
  return result;
}

}  // namespace trainrt::checkpoint
