#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "io/storage.hpp"

namespace trainrt::io {

/// Copies `object` into the file `path`, replaces an existing file, creates missing parent directories, and makes the
/// file durable (fsync). Calls `on_bytes`, if it is set, with the bytes of each block that was written. Throws
/// StorageError, and Error if the object changes during the copy.
void fetch_object(const Storage& storage, const StoredObject& object, const std::string& path,
                  const std::function<void(std::span<const std::byte>)>& on_bytes = {});

}  // namespace trainrt::io
