#pragma once
#include <string>

#include "core/environment.hpp"
#include "io/storage_url.hpp"

namespace trainrt::io::s3 {

/// Finds credentials for an object store, in the order of Amazon's tools:
/// - the profile `profile` of the credentials file, if `profile` is not empty;
/// - the environment variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN;
/// - the profile AWS_PROFILE, or "default", of the credentials file.
/// The credentials file is AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials. Throws UsageError if only one of key id and
/// secret key is set, or if a profile other than "default" is missing. The error never contains a key.
Credentials find_credentials(const Environment& environment, const std::string& profile);

/// Returns the region of the object store: AWS_REGION, else AWS_DEFAULT_REGION, else the profile's region in
/// AWS_CONFIG_FILE or ~/.aws/config, else us-east-1.
std::string find_region(const Environment& environment, const std::string& profile);

}  // namespace trainrt::io::s3
