#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "io/storage.hpp"

namespace trainrt::io::s3 {

/// Parses XML with Expat and calls `take` at the end of each element, with the path of element names down to it
/// ("ListBucketResult/Contents/Key", without namespaces) and the text directly inside it. Throws Error that describes the
/// problem if the XML is invalid, has elements that are too deep or too long, or has a document type, which could define
/// entities.
void read_xml(std::string_view text, const std::function<void(const std::string& path, const std::string& text)>& take);

/// A page of an answer to ListObjectsV2.
struct ListedPage {
  std::vector<StoredObject> objects;
  std::string next;  ///< continuation token for the next page; "" on the last page
};
ListedPage listed_page(std::string_view xml);

/// A page of an answer to ListMultipartUploads.
struct ListedUploads {
  std::vector<UnfinishedUpload> uploads;
  std::string next_name, next_id;  ///< markers for the next page; next_name is "" on the last page
};
ListedUploads listed_uploads(std::string_view xml);

/// The content of a store's error answer.
struct StoreError {
  std::string code;  ///< "SlowDown"; "" if the answer is not an error of S3
  std::string message;
  std::string region;  ///< region of the bucket, if the request was sent to another one
};
/// Never throws: an answer that cannot be parsed has no code.
StoreError store_error(std::string_view xml) noexcept;

/// Returns the text of the first element with that name, or "".
std::string text_of_element(std::string_view xml, std::string_view name);

}  // namespace trainrt::io::s3
