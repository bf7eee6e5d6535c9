#include "io/objects/s3/open.hpp"
#include "io/storage.hpp"

namespace trainrt::io::plugins {

extern const StorageKind s3{.name = "s3",
                            .help = "s3://BUCKET/KEY: Amazon S3, or an S3-compatible store (AWS_ENDPOINT_URL)",
                            .open = [](const StorageUrl& url) {
                              const auto& settings = storage_settings();
                              const auto& own = url.options;
                              return s3::open_bucket(
                                  url, {.endpoint = own.endpoint.empty() ? settings.s3_endpoint : own.endpoint,
                                        .endpoint_variables = {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"},
                                        .region = own.region.empty() ? settings.s3_region : own.region,
                                        .profile = settings.s3_profile,
                                        .anonymous = own.is_anonymous || settings.s3_anonymous,
                                        .keys = own.keys});
                            }};

}  // namespace trainrt::io::plugins
