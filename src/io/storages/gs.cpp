#include "io/objects/s3/open.hpp"
#include "io/storage.hpp"

namespace trainrt::io::plugins {

/// Plug-in for URLs gs://BUCKET/KEY: Google Cloud Storage, which accepts S3 requests that are signed with an HMAC key.
extern const StorageKind gs{.name = "gs",
                            .help = "gs://BUCKET/KEY: Google Cloud Storage, with an HMAC key in the variables AWS_...",
                            .open = [](const StorageUrl& url) {
                              const auto& settings = storage_settings();
                              auto endpoint = url.options.endpoint;
                              if (endpoint.empty()) endpoint = settings.gs_endpoint;
                              if (endpoint.empty()) endpoint = "https://storage.googleapis.com";
                              return s3::open_bucket(url, {.endpoint = endpoint,
                                                           .region = "auto",
                                                           .profile = settings.s3_profile,
                                                           .anonymous = url.options.is_anonymous,
                                                           .keys = url.options.keys});
                            }};

}  // namespace trainrt::io::plugins
