#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "io/storage.hpp"

namespace trainrt::io::s3 {

/// Calls `take` at the end of each element, with the path of names down to it ("ListBucketResult/Contents/Key", without
/// namespaces) and the text that stands directly in it. Expat reads the XML; a document type, which could define entities,
/// is refused. Throws Error that says what is wrong with it.
void read_xml(std::string_view text, const std::function<void(const std::string& path, const std::string& text)>& take);

/// One page of an answer to ListObjectsV2.
struct ListedPage {
  std::vector<StoredObject> objects;
  std::string next;  ///< the token that asks for the next page; "" after the last
};
ListedPage listed_page(std::string_view xml);

/// One page of an answer to ListMultipartUploads.
struct ListedUploads {
  std::vector<UnfinishedUpload> uploads;
  std::string next_name, next_id;  ///< the markers that ask for the next page; next_name is "" after the last
};
ListedUploads listed_uploads(std::string_view xml);

/// What a store says in an answer that is an error.
struct StoreError {
  std::string code;  ///< "SlowDown"; "" if the answer is not what S3 says
  std::string message;
  std::string region;  ///< where the bucket is, if that is what is wrong
};
StoreError store_error(std::string_view xml) noexcept;

/// The text of the first element of that name; "" if there is none.
std::string text_of_element(std::string_view xml, std::string_view name);

}  // namespace trainrt::io::s3
