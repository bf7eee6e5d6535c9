#pragma once
#include <memory>
#include <string>
#include <vector>

#include "io/storage.hpp"

namespace trainrt::io::s3 {

/// What a kind of storage says of its stores.
struct Store {
  std::string endpoint = {};                         ///< "" = what the variables say, else Amazon's
  std::vector<std::string> endpoint_variables = {};  ///< the first that is set counts
  std::string region = {};                           ///< "" = AWS_REGION, AWS_DEFAULT_REGION, the profile's, us-east-1
  std::string profile = {};                          ///< "" = AWS_PROFILE, default
  bool anonymous = false;                            ///< requests are not signed
};

/// The bucket that a URL names. Loads libcurl, once a process. Throws UsageError if it is not there, or this trainrt was
/// built without it.
std::shared_ptr<Storage> open_bucket(const StorageUrl& url, const Store& store);

}  // namespace trainrt::io::s3
