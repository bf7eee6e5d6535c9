// Parses answers of an object store: a page of ListObjectsV2, and an error.
#include <algorithm>

#include "io/objects/s3/xml.hpp"
#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

std::vector<std::string> seeds() {
  const std::string page =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
      "<Name>b</Name><Prefix>a%2F</Prefix><EncodingType>url</EncodingType><KeyCount>2</KeyCount><IsTruncated>true</"
      "IsTruncated>"
      "<NextContinuationToken>1/x=</NextContinuationToken><Contents><Key>a%2Fb+c</"
      "Key><LastModified>2026-01-02T03:04:05.000Z"
      "</LastModified><ETag>&quot;0123&quot;</ETag><Size>12</Size><StorageClass>STANDARD</StorageClass></Contents>"
      "<Contents><Key>&#x61;</Key><Size>0</Size></Contents></ListBucketResult>";
  const std::string error = "<Error><Code>SlowDown</Code><Message>Reduce &lt;it&gt;</Message><Region>eu</Region></Error>";
  const std::string bomb =
      "<!DOCTYPE a [<!ENTITY b \"cccccccc\"><!ENTITY d \"&b;&b;&b;\">]><ListBucketResult>&d;</ListBucketResult>";
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "<a>";
  return {page, error, bomb, deep};
}

std::vector<std::string> words() {
  return {"<Contents>",
          "</Contents>",
          "<Key>",
          "</Key>",
          "<Size>",
          "</Size>",
          "<IsTruncated>",
          "<![CDATA[",
          "]]>",
          "&amp;",
          "&#0;",
          "<!DOCTYPE",
          "<!ENTITY",
          "EncodingType",
          "xmlns=",
          "%00",
          "%",
          "18446744073709551616",
          "-1",
          "UploadId",
          "ETag",
          "<Error>",
          "<?xml version",
          "NextContinuationToken"};
}

void read(const std::string& input) {
  if (const auto page = unless_refused([&] { return io::s3::listed_page(input); }))
    require(std::ranges::all_of(page->objects, [&](const auto& object) { return object.name.size() <= input.size(); }),
            "no name is longer than the answer");
  const auto error = io::s3::store_error(input);
  require(error.code.size() + error.message.size() <= 2 * input.size(), "an error is not longer than the answer");
  static_cast<void>(unless_refused([&] { return io::s3::text_of_element(input, "UploadId"); }));
}

}  // namespace trainrt::fuzz
