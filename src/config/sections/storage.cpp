#include "config/section.hpp"

namespace trainrt::config::plugins {

extern const Section storage;
const Section storage{
    .name = "storage",
    .order = 10,
    .help =
        "object stores, and file systems that delete old files; credentials come from the environment or ~/.aws, never "
        "from the config",
    .keys = {
        key(&StorageKeys::s3_endpoint, {.key = "storage.s3_endpoint",
                                        .help = "URL of the store for s3:// if the store is not Amazon's, such as "
                                                "http://host:9000; by default AWS_ENDPOINT_URL"}),
        key(&StorageKeys::s3_region,
            {.key = "storage.s3_region",
             .help = "region of the store for s3://; by default the first that is set of "
                     "AWS_REGION, AWS_DEFAULT_REGION and the region of the profile, or us-east-1"}),
        key(&StorageKeys::s3_profile,
            {.key = "storage.s3_profile",
             .help = "profile of ~/.aws/credentials; if it is set, keys in the environment are ignored. By default "
                     "$AWS_PROFILE or, if it is not set, the profile named default"}),
        key(&StorageKeys::s3_anonymous,
            {.key = "storage.s3_anonymous",
             .type = OptionType::boolean,
             .default_value = "false",
             .help = "send unsigned requests to s3://, for public buckets, even if there are keys"}),
        key(&StorageKeys::gs_endpoint, {.key = "storage.gs_endpoint",
                                        .help = "URL of the store for gs://; by default https://storage.googleapis.com"}),
        key(&StorageKeys::purge_days, {.key = "storage.purge_days",
                                       .default_value = "0",
                                       .help = "age in days at which the file system of run.storage_path deletes files "
                                               "(scratch); `trainrt result` and `trainrt supervise` warn one week before "
                                               "the newest checkpoint reaches this age; 0: files are never deleted",
                                       .range = {.least = 0, .most = 36500}})}};

}  // namespace trainrt::config::plugins
