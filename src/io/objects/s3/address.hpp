#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainrt::io::s3 {

/// Builds the URLs of the objects of one bucket of an S3-compatible store.
class Address {
 public:
  /// An empty `endpoint` means Amazon S3, with the bucket in the host name of the URLs if possible. For any other
  /// endpoint, the URLs have the bucket in the path. Throws UsageError if `bucket` or `endpoint` is invalid.
  Address(std::string bucket, const std::string& endpoint, const std::string& region);

  const std::string& bucket() const { return bucket_; }
  const std::string& endpoint() const { return endpoint_; }  ///< base URL of the store, for messages: "https://host:9000"
  std::string of_object(std::string_view key) const;         ///< URL of the object `key`
  /// Returns the URL of the object `key` with a query string. `query`: names and values, which are sorted and
  /// percent-encoded.
  std::string with(std::string_view key, std::vector<std::pair<std::string, std::string>> query) const;

 private:
  std::string bucket_, endpoint_, base_;
};

/// Returns whether the path of a URL has a segment "." or "..". Pure function.
bool has_dot_segment(std::string_view url);

}  // namespace trainrt::io::s3
