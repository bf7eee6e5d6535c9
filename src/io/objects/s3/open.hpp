#pragma once
#include <memory>
#include <string>
#include <vector>

#include "io/storage.hpp"

namespace trainrt::io::s3 {

/// Settings of an S3-compatible store.
struct Store {
  std::string endpoint = {};                         ///< URL; "": from `endpoint_variables`, else Amazon's
  std::vector<std::string> endpoint_variables = {};  ///< environment variables, of which the first that is set is used
  std::string region = {};                           ///< "": AWS_REGION, AWS_DEFAULT_REGION, the profile's, or us-east-1
  std::string profile = {};                          ///< of the credentials file; "": AWS_PROFILE, or "default"
  bool anonymous = false;                            ///< requests are not signed
};

/// Opens the bucket of a URL. Loads libcurl, once per process; throws UsageError if libcurl is missing, or if trainrt was
/// built without object stores.
std::shared_ptr<Storage> open_bucket(const StorageUrl& url, const Store& store);

}  // namespace trainrt::io::s3
