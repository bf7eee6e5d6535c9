#include "io/objects/s3/upload.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "io/files/file.hpp"
#include "io/files/uninterrupted.hpp"
#include "io/objects/s3/xml.hpp"
#include "io/storage_error.hpp"

namespace trainrt::io::s3 {

namespace {

constexpr std::uint64_t least_part = 16 << 20;
constexpr std::uint64_t most_parts = 9'000;  // of 10,000
constexpr std::size_t parts_at_once = 4;
constexpr long missing = 404;

class SentFile {
 public:
  explicit SentFile(const std::string& path) : path_(path), file_(open_retrying(path, O_RDONLY)) {
    struct stat info {};
    if (file_.get() < 0 || ::fstat(file_.get(), &info) != 0) io::fail("open", path, errno);
    size_ = static_cast<std::uint64_t>(info.st_size);
  }
  std::uint64_t size() const { return size_; }
  std::vector<std::byte> read(std::uint64_t offset, std::uint64_t bytes) const {
    std::vector<std::byte> block(bytes);
    for (std::size_t done = 0; done < block.size();) {
      const auto count = uninterrupted([&] {
        return ::pread(file_.get(), block.data() + done, std::min(block.size() - done, bytes_per_call),
                       static_cast<off_t>(offset + done));
      });
      if (count < 0) io::fail("read", path_, errno);
      if (count == 0) throw Error(fmt::format("'{}' was cut while it was sent", path_));
      done += static_cast<std::size_t>(count);
    }
    return block;
  }

 private:
  std::string path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

class PartedUpload {
 public:
  PartedUpload(Client& client, const SentFile& file, const std::string& name)
      : client_(client), file_(file), name_(name), purpose_{"write", client.url_of(name)} {
    const auto answer = client.send({.method = "POST", .url = client.address().with(name, {{"uploads", ""}})}, purpose_);
    id_ = text_of_element(answer.text, "UploadId");
    if (id_.empty()) throw Error(fmt::format("the store begins no upload of '{}'", purpose_.url));
  }

  std::string send() try {
    const auto part_bytes = std::max(least_part, (file_.size() + most_parts - 1) / most_parts);
    for (std::uint64_t offset = 0; offset < file_.size(); offset += parts_at_once * part_bytes)
      send_parts(offset, std::min(file_.size(), offset + parts_at_once * part_bytes), part_bytes);
    return complete();
  } catch (...) {
    give_up();
    throw;
  }

 private:
  void send_parts(std::uint64_t begin, std::uint64_t end, std::uint64_t part_bytes) {
    std::vector<std::vector<std::byte>> blocks;
    std::vector<Request> requests;
    blocks.reserve(parts_at_once);
    for (auto offset = begin; offset < end; offset += part_bytes) {
      blocks.push_back(file_.read(offset, std::min(part_bytes, end - offset)));
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
                                     purpose_, missing);
    if (answer.status == missing) return etag_if_complete(answer.text);
    if (const auto error = store_error(answer.text); !error.code.empty())  // it may come with 200
      throw StorageError(fmt::format("cannot write '{}': {} ({})", purpose_.url, error.code, error.message), EAGAIN,
                         purpose_.url);
    return text_of_element(answer.text, "ETag");
  }

  /// The upload is not there any more. If the answer to the first request to complete it was lost, and the request was sent
  /// again, that is so because the object is there: then its ETag. Else the whole file may be sent again.
  std::string etag_if_complete(const std::string& answer) {
    const auto error = store_error(answer);
    const auto there =
        client_.send({.method = "HEAD", .url = client_.address().of_object(name_)}, {"look at", purpose_.url}, missing);
    const bool is_whole = there.status != missing && there.length >= 0 &&
                          static_cast<std::uint64_t>(there.length) == file_.size() &&
                          trim_quotes(there.etag).ends_with(fmt::format("-{}", etags_.size()));
    if (is_whole && error.code == "NoSuchUpload") return there.etag;
    throw StorageError(
        fmt::format("cannot write '{}': {} ({}) when its {} parts were to be put together; check that nothing "
                    "else removes uploads that are under way there",
                    purpose_.url, error.code.empty() ? "HTTP 404" : error.code, error.message, etags_.size()),
        error.code == "NoSuchBucket" ? ENOENT : EAGAIN, purpose_.url);
  }

  /// The store keeps parts of an upload, and charges for them, until it is told to drop them.
  void give_up() noexcept try {
    const Request drop{.method = "DELETE", .url = client_.address().with(name_, {{"uploadId", id_}})};
    try {
      client_.send(drop, purpose_, missing);
    } catch (const std::exception&) {
      client_.send_last(drop);  // it may have been interrupted
    }
  } catch (...) {  // what went wrong before counts
  }

  static std::string_view trim_quotes(std::string_view etag) {
    if (etag.ends_with('"')) etag.remove_suffix(1);
    return etag;
  }

  static std::string in_xml(const std::string& text) {
    std::string safe;
    for (const auto letter : text)
      safe += letter == '"' ? "&quot;" : letter == '&' ? "&amp;" : letter == '<' ? "&lt;" : std::string(1, letter);
    return safe;
  }

  Client& client_;
  const SentFile& file_;
  const std::string& name_;
  Purpose purpose_;
  std::string id_;
  std::vector<std::string> etags_;
};

}  // namespace

StoredObject upload(Client& client, const std::string& file, const std::string& name) {
  const SentFile sent(file);
  StoredObject object{name, sent.size()};
  if (sent.size() <= least_part) {
    const auto bytes = sent.read(0, sent.size());
    object.etag =
        client
            .send({.method = "PUT", .url = client.address().of_object(name), .body = bytes}, {"write", client.url_of(name)})
            .etag;
  } else {
    object.etag = PartedUpload(client, sent, name).send();
  }
  return object;
}

}  // namespace trainrt::io::s3
