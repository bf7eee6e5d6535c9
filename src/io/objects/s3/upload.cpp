#include "io/objects/s3/upload.hpp"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "io/files/file.hpp"
#include "io/objects/s3/xml.hpp"

namespace trainrt::io::s3 {

namespace {

constexpr std::uint64_t min_part_bytes = 16 << 20;
/// Maximum number of parts of a multipart upload.
constexpr std::uint64_t max_parts = 9'000;  // object stores accept 10,000 parts per upload
constexpr std::size_t parts_at_once = 4;

/// Reads and returns the next `count` bytes of a file. Throws Error if the file has fewer bytes left.
std::vector<std::byte> next_bytes(FileReader& file, std::uint64_t count) {
  std::vector<std::byte> bytes(count);
  if (file.read(bytes) < count) throw Error(fmt::format("'{}' was truncated during its upload", file.path()));
  return bytes;
}

/// A multipart upload of a file to an object store. The constructor begins the upload; send() completes it, or aborts it
/// on an error.
class MultipartUpload {
 public:
  MultipartUpload(Client& client, FileReader& file, const std::string& name)
      : client_(client), file_(file), name_(name), purpose_{"write", client.url_of(name)} {
    const auto answer = client.send({.method = "POST", .url = client.address().with(name, {{"uploads", ""}})}, purpose_);
    id_ = text_of_element(answer.text, "UploadId");
    if (id_.empty())
      throw Error(fmt::format("the store did not begin an upload of '{}': its answer has no upload id", purpose_.url));
  }

  /// Sends all parts, completes the upload, and returns the ETag of the object.
  std::string send() try {
    const auto part_bytes = std::max(min_part_bytes, (file_.size() + max_parts - 1) / max_parts);
    for (std::uint64_t offset = 0; offset < file_.size(); offset += parts_at_once * part_bytes)
      send_parts(offset, std::min(file_.size(), offset + parts_at_once * part_bytes), part_bytes);
    return complete();
  } catch (...) {
    discard();
    throw;
  }

 private:
  void send_parts(std::uint64_t begin, std::uint64_t end, std::uint64_t part_bytes) {
    std::vector<std::vector<std::byte>> blocks;
    std::vector<Request> requests;
    blocks.reserve(parts_at_once);
    for (auto offset = begin; offset < end; offset += part_bytes) {
      blocks.push_back(next_bytes(file_, std::min(part_bytes, end - offset)));
      const auto number = etags_.size() + blocks.size();
      const auto url = client_.address().with(name_, {{"partNumber", std::to_string(number)}, {"uploadId", id_}});
      requests.push_back({.method = "PUT", .url = url, .body = blocks.back()});
    }
    for (const auto& answer : client_.send(requests, purpose_)) etags_.push_back(answer.etag);
  }

  std::string complete() {
    std::string list = "<CompleteMultipartUpload>";
    for (std::size_t i = 0; i < etags_.size(); ++i)
      list += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", i + 1, in_xml(etags_[i]));
    list += "</CompleteMultipartUpload>";
    const auto answer = client_.send({.method = "POST",
                                      .url = client_.address().with(name_, {{"uploadId", id_}}),
                                      .body = std::as_bytes(std::span(list))},
                                     purpose_, http::not_found);
    if (answer.status == http::not_found) return etag_if_complete(answer.text);
    // A store may report an error with HTTP status 200.
    if (const auto error = store_error(answer.text); !error.code.empty())
      throw StorageError(fmt::format("cannot write '{}': {} ({})", purpose_.url, error.code, error.message), EAGAIN,
                         purpose_.url);
    return text_of_element(answer.text, "ETag");
  }

  /// Returns the ETag of the object if it exists although the store no longer knows the multipart upload. This happens if
  /// the answer to the request that completed the upload was lost and the request was repeated. Otherwise throws
  /// StorageError, which is transient unless the bucket does not exist: the file may be uploaded again.
  std::string etag_if_complete(const std::string& answer) {
    const auto error = store_error(answer);
    const auto object = client_.send({.method = "HEAD", .url = client_.address().of_object(name_)},
                                     {"read the properties of", purpose_.url}, http::not_found);
    const auto suffix = fmt::format("-{}", etags_.size());  // the ETag of a multipart upload ends with its number of parts
    const bool is_complete = object.status != http::not_found && object.length >= 0 &&
                             static_cast<std::uint64_t>(object.length) == file_.size() &&
                             (object.etag.ends_with(suffix) || object.etag.ends_with(suffix + '"'));
    if (is_complete && error.code == "NoSuchUpload") return object.etag;
    throw StorageError(
        fmt::format("cannot write '{}': {} ({}) on completing an upload of {} parts; "
                    "check that nothing else removes unfinished uploads",
                    purpose_.url, error.code.empty() ? "HTTP 404" : error.code, error.message, etags_.size()),
        error.code == "NoSuchBucket" ? ENOENT : EAGAIN, purpose_.url);
  }

  /// Aborts the upload, so that the store discards the received parts, which it otherwise keeps and charges for. Ignores
  /// errors.
  void discard() noexcept try {
    const Request request{.method = "DELETE", .url = client_.address().with(name_, {{"uploadId", id_}})};
    try {
      client_.send(request, purpose_, http::not_found);
    } catch (const std::exception&) {
      client_.send_last(request);  // Client::send() fails after interrupt()
    }
  } catch (...) {  // ignored: the caller rethrows the first error
  }

  static std::string in_xml(const std::string& text) {
    std::string safe;
    for (const auto letter : text)
      safe += letter == '"' ? "&quot;" : letter == '&' ? "&amp;" : letter == '<' ? "&lt;" : std::string(1, letter);
    return safe;
  }

  Client& client_;
  FileReader& file_;
  const std::string& name_;
  Purpose purpose_;
  std::string id_;
  std::vector<std::string> etags_;
};

}  // namespace

StoredObject upload(Client& client, const std::string& file, const std::string& name) {
  FileReader sent(file);
  StoredObject object{name, sent.size()};
  if (sent.size() <= min_part_bytes) {
    const auto bytes = next_bytes(sent, sent.size());
    object.etag =
        client
            .send({.method = "PUT", .url = client.address().of_object(name), .body = bytes}, {"write", client.url_of(name)})
            .etag;
  } else {
    object.etag = MultipartUpload(client, sent, name).send();
  }
  return object;
}

}  // namespace trainrt::io::s3
