#pragma once
#include <cstdint>
#include <string>

namespace trainrt::config {

/// Values of the config section [storage]: access to storage. An empty string means that the value is taken from the
/// environment.
struct StorageKeys {
  std::string s3_endpoint, s3_region, s3_profile, gs_endpoint;
  bool s3_anonymous = false;
  std::int64_t purge_days = 0;  ///< age in days at which the file system deletes files; 0: never
};

}  // namespace trainrt::config
