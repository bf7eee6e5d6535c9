#pragma once
#include <string>

namespace trainrt::config {

/// The values of [storage]; "" = what the environment says.
struct StorageKeys {
  std::string s3_endpoint, s3_region, s3_profile, gs_endpoint;
  bool s3_anonymous = false;
};

}  // namespace trainrt::config
