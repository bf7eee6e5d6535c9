#pragma once
#include <string>

#include "core/environment.hpp"

namespace trainrt::io::s3 {

/// Keys for signing requests. If `key` is empty, requests are anonymous.
struct Credentials {
  std::string key, secret, token;
};

/// Finds credentials in the order of Amazon's tools: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, then
/// the profile in AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials. An empty `profile` means AWS_PROFILE, or "default";
/// any other goes before the variables. Throws UsageError if only one half of a key is set, or if a named profile is
/// missing. The error never contains a key.
Credentials find_credentials(const Environment& environment, const std::string& profile);

/// Returns AWS_REGION, else AWS_DEFAULT_REGION, else the profile's region in AWS_CONFIG_FILE or ~/.aws/config, else
/// us-east-1.
std::string find_region(const Environment& environment, const std::string& profile);

}  // namespace trainrt::io::s3
