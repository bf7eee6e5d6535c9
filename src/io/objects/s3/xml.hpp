#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "io/storage.hpp"

namespace trainrt::io::s3 {

/// Parses XML with Expat. At the end of each element, calls `take` with the path of element names from the root to it
/// ("ListBucketResult/Contents/Key", without namespaces) and the text directly inside the element.
///
/// Throws Error, which describes the problem, if the XML is invalid, is nested too deeply, or has an element with too much
/// text. A document type is an error, too, because it could define entities.
void read_xml(std::string_view text, const std::function<void(const std::string& path, const std::string& text)>& take);

/// A page of the answer to the S3 request ListObjectsV2, which lists the objects of a bucket.
struct ListedPage {
  std::vector<StoredObject> objects;
  std::string next;  ///< continuation token for the next page; "" on the last page
};
/// Parses an answer to ListObjectsV2. Throws Error if the XML is not such an answer.
ListedPage listed_page(std::string_view xml);

/// A page of the answer to the S3 request ListMultipartUploads.
struct ListedUploads {
  std::vector<UnfinishedUpload> uploads;
  std::string next_name, next_id;  ///< markers for the next page; next_name is "" on the last page
};
/// Parses an answer to ListMultipartUploads. Throws Error if the XML is not such an answer.
ListedUploads listed_uploads(std::string_view xml);

/// The content of an answer with which an object store reports an error.
struct StoreError {
  std::string code;  ///< error code of S3, such as "SlowDown"; "" if the answer is not an error
  std::string message;
  std::string region;  ///< region of the bucket, if the request was sent to another region
};
/// Parses an answer with which an object store reports an error. Never throws: returns an empty code if the answer cannot
/// be parsed.
StoreError store_error(std::string_view xml) noexcept;

/// Returns the text of the first XML element with the name `name`, or "" if there is no such element.
std::string text_of_element(std::string_view xml, std::string_view name);

}  // namespace trainrt::io::s3
