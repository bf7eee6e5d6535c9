#include "io/objects/s3/xml.hpp"

#include <expat.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/percent.hpp"

namespace trainrt::io::s3 {

namespace {

constexpr std::size_t max_element_bytes = 64 << 10;  // maximum size, in bytes, of the text of one XML element
constexpr std::size_t max_depth = 16;

/// The state of an XML parse. An exception thrown by `take` is stored, because it must not pass through Expat, a C
/// library.
struct XmlWalk {
  const std::function<void(const std::string&, const std::string&)>& take;
  XML_Parser parser;
  std::string path;
  std::vector<std::string> texts;
  std::exception_ptr error;

  void stop(const std::string& why) {
    if (!error) error = std::make_exception_ptr(Error(why));
    XML_StopParser(parser, XML_FALSE);
  }

  static void begin(void* own, const char* name, const char**) {
    auto& walk = *static_cast<XmlWalk*>(own);
    if (walk.texts.size() == max_depth) return walk.stop("its elements are nested more than 16 deep");
    const std::string_view qualified(name);
    const auto plain = qualified.substr(qualified.rfind('|') + 1);  // name without the XML namespace
    if (!walk.path.empty()) walk.path += '/';
    walk.path += plain.substr(0, 200);
    walk.texts.emplace_back();
  }

  static void characters(void* own, const char* bytes, int count) {
    auto& walk = *static_cast<XmlWalk*>(own);
    if (walk.texts.empty()) return;
    auto& text = walk.texts.back();
    if (text.size() + static_cast<std::size_t>(count) > max_element_bytes)
      return walk.stop("the text of an element has more than 64 KiB");
    text.append(bytes, static_cast<std::size_t>(count));
  }

  static void end(void* own, const char*) {
    auto& walk = *static_cast<XmlWalk*>(own);
    if (walk.error || walk.texts.empty()) return;
    try {
      walk.take(walk.path, walk.texts.back());
    } catch (...) {
      walk.error = std::current_exception();
      XML_StopParser(walk.parser, XML_FALSE);
    }
    walk.texts.pop_back();
    walk.path.resize(walk.path.rfind('/') == std::string::npos ? 0 : walk.path.rfind('/'));
  }

  static void document_type(void* own, const char*, const char*, const char*, int) {
    static_cast<XmlWalk*>(own)->stop("it has a document type");
  }
};

/// Returns the offset at which the parser found an error, or -1 if it is unknown.
std::int64_t error_offset(XML_Parser parser) {
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
  return XML_GetCurrentByteIndex64(parser);
#else
  return XML_GetCurrentByteIndex(parser);
#endif
}

/// Returns the line of the byte `at` of `text`, from 1. `at` is -1 if the byte is unknown.
std::ptrdiff_t line_of(std::string_view text, std::int64_t at) {
  return 1 + std::ranges::count(text.substr(0, static_cast<std::size_t>(std::max<std::int64_t>(at, 0))), '\n');
}

/// Decodes a URL-encoded string, as in web forms: %XX is a byte, + is a space.
std::string url_decoded(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return percent_decoded(spaced);
}

std::uint64_t size_of_text(const std::string& text) {
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size() || size > std::uint64_t{1} << 62)
    throw Error(fmt::format("'{}' is not a size", text.substr(0, 40)));
  return size;
}

/// Converts a time such as "2026-11-21T01:02:03.000Z" to nanoseconds since 1970. Returns 0 for any other text.
std::int64_t nanoseconds_of(const std::string& text) {
  std::tm parts{};
  if (::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr) return 0;
  constexpr std::int64_t latest_s = 9'000'000'000;  // maximum number of seconds that fits into 64 bits as nanoseconds
  const auto seconds = std::int64_t{::timegm(&parts)};
  return seconds >= 0 && seconds <= latest_s ? seconds * 1'000'000'000 : 0;
}

/// Properties of one page of a listing of the objects or unfinished uploads of a bucket.
struct ListingState {
  bool is_truncated = false;  ///< more pages of the listing follow
  bool is_encoded = false;    ///< names on this page are URL-encoded
};

/// Parses one page of a listing of objects or uploads. Calls `take` for each element of the XML, with its path relative
/// to the element `root` and its text. Throws Error if the root element has another name than `root`.
ListingState read_listing(std::string_view xml, std::string_view root,
                          const std::function<void(std::string_view, const std::string&)>& take) {
  ListingState state;
  bool is_listing = false;
  read_xml(xml, [&](const std::string& path, const std::string& text) {
    if (path == root) is_listing = true;
    const auto name = path.starts_with(fmt::format("{}/", root)) ? std::string_view(path).substr(root.size() + 1) : "";
    if (name == "IsTruncated") state.is_truncated = text == "true";
    if (name == "EncodingType") state.is_encoded = text == "url";
    take(name, text);
  });
  if (!is_listing) throw Error(fmt::format("it is not a {}", root));
  return state;
}

}  // namespace

void read_xml(std::string_view text, const std::function<void(const std::string&, const std::string&)>& take) {
  const std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser(XML_ParserCreateNS(nullptr, '|'), XML_ParserFree);
  if (!parser) throw std::bad_alloc();
  XmlWalk walk{take, parser.get(), {}, {}, nullptr};
  XML_SetUserData(parser.get(), &walk);
  XML_SetElementHandler(parser.get(), XmlWalk::begin, XmlWalk::end);
  XML_SetCharacterDataHandler(parser.get(), XmlWalk::characters);
  XML_SetStartDoctypeDeclHandler(parser.get(), XmlWalk::document_type);
  const auto status = XML_Parse(parser.get(), text.data(), static_cast<int>(text.size()), XML_TRUE);
  if (walk.error) std::rethrow_exception(walk.error);
  if (status != XML_STATUS_OK)
    throw Error(fmt::format("it is not XML: {} in line {}", XML_ErrorString(XML_GetErrorCode(parser.get())),
                            line_of(text, error_offset(parser.get()))));
}

ListedPage listed_page(std::string_view xml) {
  ListedPage page;
  StoredObject object;
  bool has_size = false;
  std::string token;
  const auto state = read_listing(xml, "ListBucketResult", [&](std::string_view name, const std::string& text) {
    if (name == "NextContinuationToken") token = text;
    if (name == "Contents/Key") object.name = text;
    if (name == "Contents/ETag") object.etag = text;
    if (name == "Contents/LastModified") object.mtime_ns = nanoseconds_of(text);
    if (name == "Contents/Size") object.size = size_of_text(text), has_size = true;
    if (name != "Contents") return;
    if (object.name.empty() || !has_size) throw Error("an object of the listing has no name or no size");
    page.objects.push_back(std::exchange(object, {}));
    has_size = false;
  });
  if (state.is_truncated && token.empty()) throw Error("the listing is truncated, and has no token for the next page");
  if (state.is_encoded)
    for (auto& each : page.objects) each.name = url_decoded(each.name);
  if (state.is_truncated) page.next = std::move(token);
  return page;
}

ListedUploads listed_uploads(std::string_view xml) {
  ListedUploads page;
  UnfinishedUpload upload;
  const auto state = read_listing(xml, "ListMultipartUploadsResult", [&](std::string_view name, const std::string& text) {
    if (name == "NextKeyMarker") page.next_name = text;
    if (name == "NextUploadIdMarker") page.next_id = text;
    if (name == "Upload/Key") upload.name = text;
    if (name == "Upload/UploadId") upload.id = text;
    if (name != "Upload") return;
    if (upload.name.empty() || upload.id.empty()) throw Error("an upload of the listing has no name or no id");
    page.uploads.push_back(std::exchange(upload, {}));
  });
  if (state.is_truncated && page.next_name.empty())
    throw Error("the listing is truncated, and has no marker for the next page");
  if (state.is_encoded) {
    for (auto& each : page.uploads) each.name = url_decoded(each.name);
    page.next_name = url_decoded(page.next_name);
  }
  if (!state.is_truncated) page.next_name.clear();  // some object stores also send markers on the last page of a listing
  return page;
}

StoreError store_error(std::string_view xml) noexcept try {
  StoreError error;
  read_xml(xml, [&](const std::string& path, const std::string& text) {
    if (path == "Error/Code") error.code = text;
    if (path == "Error/Message") error.message = text;
    if (path == "Error/Region") error.region = text;
  });
  return error;
} catch (...) {
  return {};
}

std::string text_of_element(std::string_view xml, std::string_view name) {
  std::optional<std::string> found;
  read_xml(xml, [&](const std::string& path, const std::string& text) {
    if (!found && path.substr(path.rfind('/') + 1) == name) found = text;
  });
  return found.value_or("");
}

}  // namespace trainrt::io::s3
