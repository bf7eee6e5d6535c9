#pragma once
#include <memory>
#include <string>
#include <vector>

#include "io/storage.hpp"

namespace trainrt::io::s3 {

/// Settings for one S3-compatible object store.
struct Store {
  std::string endpoint = {};  ///< URL; "": from `endpoint_variables`, else Amazon's
  /// Environment variables for the endpoint; the first that is set is used.
  std::vector<std::string> endpoint_variables = {};
  std::string region = {};   ///< region; "": AWS_REGION, AWS_DEFAULT_REGION, the profile's, or us-east-1
  std::string profile = {};  ///< profile in the AWS credentials file; "": AWS_PROFILE, or "default"
  bool anonymous = false;    ///< send requests without a signature
  Credentials keys = {};     ///< keys for signing; if empty, find_credentials() finds them
};

/// Opens the bucket of `url` in the object store `store`. Loads libcurl, once per process. Throws UsageError if libcurl
/// is missing, or if trainrt was built without object stores.
std::shared_ptr<Storage> open_bucket(const StorageUrl& url, const Store& store);

}  // namespace trainrt::io::s3
