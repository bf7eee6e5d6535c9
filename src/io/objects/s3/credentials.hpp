#pragma once
#include <string>

#include "core/environment.hpp"

namespace trainrt::io::s3 {

/// With an empty key requests are anonymous.
struct Credentials {
  std::string key, secret, token;
};

/// As Amazon's tools look for them: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; else the profile in
/// AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials. `profile` "" is AWS_PROFILE, or default. Throws UsageError that names
/// what is missing, never what is there, if only half of a key is set, or a profile that is asked for is not there.
Credentials find_credentials(const Environment& environment, const std::string& profile);

/// AWS_REGION, AWS_DEFAULT_REGION, or the profile's in AWS_CONFIG_FILE or ~/.aws/config; us-east-1 if none says it.
std::string find_region(const Environment& environment, const std::string& profile);

}  // namespace trainrt::io::s3
