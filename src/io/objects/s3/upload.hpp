#pragma once
#include <string>

#include "io/objects/s3/client.hpp"

namespace trainrt::io::s3 {

/// Uploads the local file `file` as the object `name`. Returns the object with its size and the ETag that the store
/// assigned. The file must not change during the upload.
/// - A file of up to 16 MiB is sent in one request. A larger file is sent as a multipart upload: the object appears when
///   the store has received all parts.
/// - Four parts are in memory and sent at the same time. A part has 16 MiB; the parts of files above 150 GB are larger.
/// - The signature covers the SHA-256 of each part, so that the store verifies the content.
StoredObject upload(Client& client, const std::string& file, const std::string& name);

}  // namespace trainrt::io::s3
