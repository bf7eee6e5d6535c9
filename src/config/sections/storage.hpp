#pragma once
#include <cstdint>
#include <string>

namespace trainrt::config {

/// The values of [storage]. For an empty string the value of the environment is used.
struct StorageKeys {
  std::string s3_endpoint, s3_region, s3_profile, gs_endpoint;
  bool s3_anonymous = false;
  std::int64_t purge_days = 0;  ///< age at which the file system deletes files; 0: never
};

}  // namespace trainrt::config
