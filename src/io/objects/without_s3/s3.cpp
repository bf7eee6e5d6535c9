#include <trainrt/error.hpp>

#include "io/objects/s3/open.hpp"

namespace trainrt::io::s3 {

std::shared_ptr<Storage> open_bucket(const StorageUrl&, const Store&) {
  throw UsageError(
      "this trainrt was built without object stores; "
      "install the packages libcurl4-openssl-dev and libexpat1-dev, and build it again");
}

}  // namespace trainrt::io::s3
