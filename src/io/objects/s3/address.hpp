#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainrt::io::s3 {

/// Builds the URLs of the objects of a bucket.
class Address {
 public:
  /// An empty `endpoint` is Amazon's; its URLs have the bucket in the host name if possible. The URLs of other endpoints
  /// have the bucket in the path. Throws UsageError if `bucket` or `endpoint` is invalid.
  Address(std::string bucket, const std::string& endpoint, const std::string& region);

  const std::string& bucket() const { return bucket_; }
  const std::string& endpoint() const { return endpoint_; }  ///< "https://host:9000", for messages
  std::string of_object(std::string_view key) const;         ///< URL of an object
  /// Returns the URL of an object with a query. `query`: names and values, which are sorted and encoded.
  std::string with(std::string_view key, std::vector<std::pair<std::string, std::string>> query) const;

 private:
  std::string bucket_, endpoint_, base_;
};

/// Encodes `text` for a URL (RFC 3986): all bytes except letters, digits and -._~ become %XX. Keeps slashes if
/// `keeps_slashes`, as in a key.
std::string url_encoded(std::string_view text, bool keeps_slashes);

}  // namespace trainrt::io::s3
