#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainrt::io::s3 {

/// Where the objects of a bucket are.
class Address {
 public:
  /// `endpoint` "" is Amazon's, with the bucket in the host's name if it can stand there; others have it in the path.
  /// Throws UsageError if one of them is none.
  Address(std::string bucket, const std::string& endpoint, const std::string& region);

  const std::string& bucket() const { return bucket_; }
  const std::string& endpoint() const { return endpoint_; }  ///< "https://host:9000", for messages
  std::string of_object(std::string_view key) const;
  /// `query`: names and values, plain; they are sorted and encoded.
  std::string with(std::string_view key, std::vector<std::pair<std::string, std::string>> query) const;

 private:
  std::string bucket_, endpoint_, base_;
};

/// As RFC 3986 has it: all bytes but letters, digits and -._~ are %XX; of a key the slashes stay too.
std::string url_encoded(std::string_view text, bool keeps_slashes);

}  // namespace trainrt::io::s3
