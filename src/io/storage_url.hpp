#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace trainrt::io {

/// Access keys for signing requests to an object store. If `key` is empty, requests are anonymous.
struct Credentials {
  std::string key, secret, token;
};

/// Options of one object store, which take precedence over [storage] and the environment.
struct StoreOptions {
  std::string endpoint = {};  ///< URL of the store: "http://host:9000"; "" if the URL does not name one
  std::string region = {};
  bool is_anonymous = false;  ///< send unsigned requests
  Credentials keys = {};      ///< keys that sign the requests, if not empty; a URL never contains them
};

/// The components of a URL such as "s3://bucket/some/key" or "s3://bucket/some/key?endpoint_override=http://host:9000".
struct StorageUrl {
  std::string scheme;  ///< "s3", "gs" or "file"
  std::string bucket;  ///< name of the bucket; empty for file:///PATH
  std::string name;    ///< key of an object, or prefix of keys; may be empty
  StoreOptions options = {};
};

/// Parses a URL. Returns nullopt if `text` is not a URL. Throws UsageError, which lists the valid values, if the scheme or
/// an option is unknown. Also throws UsageError if the URL contains access keys; the error does not quote them.
///
/// The URL of an object store may have the options of Apache Arrow: endpoint_override, scheme, region,
/// allow_bucket_creation and allow_bucket_deletion (the last two have no effect). They follow the last question mark before
/// a name and '='; other question marks are part of the key, as in patterns. Options may also be before the bucket, as
/// url_in_bucket() writes them: "s3://anonymous@bucket/key".
std::optional<StorageUrl> storage_url(std::string_view text);

/// Returns the URL of the object `name` in the bucket of `url`: "s3://anonymous&region=eu@bucket/a.csv". The options of
/// `url` are before the bucket, so that the URL ends with the name.
std::string url_in_bucket(const StorageUrl& url, std::string_view name);

/// Returns the URL or the path of `name` in the folder `folder`, which is a URL or a path. The options of a URL are kept.
std::string url_below(const std::string& folder, const std::string& name);

}  // namespace trainrt::io
