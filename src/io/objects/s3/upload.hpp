#pragma once
#include <string>

#include "io/objects/s3/client.hpp"

namespace trainrt::io::s3 {

/// Uploads a file as the object `name`, and returns its size and the ETag that the store gave it. A file of up to 16 MiB is
/// sent in one request, a larger one as a multipart upload: the object appears when all parts have been received. Four
/// parts are in memory and sent at the same time; a part has 16 MiB, and more only if the file has more than 150 GB. The
/// signature covers the SHA-256 of each part, so that the store verifies it. The file must not change meanwhile.
StoredObject upload(Client& client, const std::string& file, const std::string& name);

}  // namespace trainrt::io::s3
