#include "config/section.hpp"

namespace trainrt::config {

namespace plugins {

extern const Section storage;
const Section storage{
    .name = "storage",
    .order = 10,
    .help =
        "storage that removes old files, and object stores; keys and secrets come from the environment or ~/.aws, "
        "never from here",
    .keys = {
        key(&StorageKeys::s3_endpoint,
            {.key = "storage.s3_endpoint",
             .help = "of s3://, for a store that is not Amazon's: http://host:9000; by default AWS_ENDPOINT_URL"}),
        key(&StorageKeys::s3_region,
            {.key = "storage.s3_region",
             .help = "by default AWS_REGION, AWS_DEFAULT_REGION or the profile's, else us-east-1"}),
        key(&StorageKeys::s3_profile,
            {.key = "storage.s3_profile",
             .help = "of ~/.aws/credentials, whatever keys are in the environment; by default AWS_PROFILE, or default"}),
        key(&StorageKeys::s3_anonymous,
            {.key = "storage.s3_anonymous",
             .type = OptionType::boolean,
             .default_value = "false",
             .help = "requests to s3:// are not signed, whatever keys there are: for public buckets"}),
        key(&StorageKeys::gs_endpoint,
            {.key = "storage.gs_endpoint", .help = "of gs://, by default https://storage.googleapis.com"}),
        key(&StorageKeys::purge_days,
            {.key = "storage.purge_days",
             .default_value = "0",
             .help = "age in days at which the file system of run.storage_path removes files (scratch); `trainrt result` "
                     "and `trainrt supervise` warn when the newest checkpoint is a week from it; 0: never",
             .range = {.least = 0, .most = 36500}})}};

}  // namespace plugins

}  // namespace trainrt::config
