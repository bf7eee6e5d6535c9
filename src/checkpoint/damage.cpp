#include "checkpoint/damage.hpp"

#include <new>
#include <system_error>

#include <fmt/format.h>

#include "io/storage_error.hpp"

namespace trainrt::checkpoint {

namespace {

bool is_of_this_process(const std::exception& error) {
  if (const auto* storage = dynamic_cast<const io::StorageError*>(&error))
    return io::is_out_of_resources(storage->error_number());
  return dynamic_cast<const CannotRead*>(&error) != nullptr || dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         dynamic_cast<const std::system_error*>(&error) != nullptr;  // std::system_error: a thread could not be started
}

}  // namespace

std::string damaged_bytes(const std::string& path, std::uint64_t at, std::uint64_t bytes) {
  return fmt::format("'{}' is damaged: bytes {} to {} do not match their digest", path, at, at + bytes - 1);
}

void rethrow_if_no_damage(const std::exception& error) {
  if (!is_of_this_process(error)) return;
  const bool is_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  throw CannotRead(is_memory ? "cannot read a checkpoint: this process is out of memory" : error.what());
}

}  // namespace trainrt::checkpoint
