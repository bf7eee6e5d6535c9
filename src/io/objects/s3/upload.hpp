#pragma once
#include <string>

#include "io/objects/s3/client.hpp"

namespace trainrt::io::s3 {

/// Sends a file: in one piece up to 16 MiB, else in parts, four at the same time, each held in memory (16 MiB, more only
/// for files of more than 150 GB). The SHA-256 of each piece is signed, by which the store verifies it. What is sent in
/// parts exists when all have come, or never. The file must not change meanwhile. Returns its size, and the ETag that the
/// store gave it.
StoredObject upload(Client& client, const std::string& file, const std::string& name);

}  // namespace trainrt::io::s3
