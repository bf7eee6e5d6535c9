#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "io/objects/s3/client.hpp"
#include "io/objects/s3/upload.hpp"
#include "io/objects/s3/xml.hpp"
#include "io/storage_error.hpp"

namespace trainrt::io::s3 {

namespace {

constexpr std::size_t max_range_bytes = 4 << 20;  // maximum size of the byte range that one request reads

/// The Storage of one bucket of an S3-compatible store.
class Bucket final : public Storage {
 public:
  Bucket(const StorageUrl& url, const Store& store) : client_(url, store) {}

  std::vector<StoredObject> list(const std::string& prefix) const override {
    std::vector<StoredObject> found;
    const Purpose purpose{"list", url_of(prefix)};
    for (std::string token;;) {
      std::vector<std::pair<std::string, std::string>> query{
          {"list-type", "2"}, {"prefix", prefix}, {"encoding-type", "url"}};
      if (!token.empty()) query.emplace_back("continuation-token", token);
      auto page = page_of(listed_page, client_.send({.url = client_.address().with("", query)}, purpose).text, purpose);
      for (auto& object : page.objects) found.push_back(std::move(object));
      if (page.next.empty() || page.next == token) break;
      token = std::move(page.next);
    }
    std::ranges::sort(found, {}, &StoredObject::name);
    return found;
  }

  std::optional<StoredObject> find(const std::string& name) const override {
    const auto answer = head(name);
    if (answer.status == http::not_found) return std::nullopt;
    if (answer.length < 0) throw Error(fmt::format("the store does not report the size of '{}'", url_of(name)));
    return StoredObject{name, static_cast<std::uint64_t>(answer.length), answer.etag, answer.changed_s * 1'000'000'000};
  }

  void read(const StoredObject& object, std::span<const ObjectPart> parts) const override {
    const auto url = client_.address().of_object(object.name);
    std::vector<Request> requests;
    for (const auto& part : parts) add_ranges(object, url, part, requests);
    if (requests.empty()) return;
    for (const auto& answer : client_.send(requests, {"read", url_of(object.name)}, http::precondition_failed))
      require_same(object, answer);
  }

  StoredObject put(const std::string& file, const std::string& name) override {
    const auto sent = upload(client_, file, name);
    const auto found = find(name);
    if (!found || found->size != sent.size || (!sent.etag.empty() && found->etag != sent.etag))
      throw StorageError(fmt::format("the store did not keep '{}' as it was sent: {}", url_of(name),
                                     found ? fmt::format("it has {} bytes, but {} were sent", found->size, sent.size)
                                           : "it does not exist"),
                         EIO, url_of(name));
    return *found;
  }

  void remove(const std::string& name) override {
    client_.send({.method = "DELETE", .url = client_.address().of_object(name)}, {"remove", url_of(name)}, http::not_found);
  }

  std::vector<UnfinishedUpload> unfinished_uploads(const std::string& prefix) const override {
    std::vector<UnfinishedUpload> found;
    const Purpose purpose{"list the unfinished uploads of", url_of(prefix)};
    for (std::string name, id;;) {
      std::vector<std::pair<std::string, std::string>> query{{"uploads", ""}, {"prefix", prefix}, {"encoding-type", "url"}};
      if (!name.empty()) query.emplace_back("key-marker", name);
      if (!id.empty()) query.emplace_back("upload-id-marker", id);
      const auto answer = client_.send({.url = client_.address().with("", query)}, purpose, http::not_implemented);
      if (answer.status == http::not_implemented) throw Error("the store does not list unfinished uploads (HTTP 501)");
      auto page = page_of(listed_uploads, answer.text, purpose);
      for (auto& upload : page.uploads)  // checked, because a store may ignore the query parameter `prefix`
        if (upload.name.starts_with(prefix)) found.push_back(std::move(upload));
      if (page.next_name.empty() || (page.next_name == name && page.next_id == id)) return found;
      name = std::move(page.next_name);
      id = std::move(page.next_id);
    }
  }

  void abort_upload(const UnfinishedUpload& upload) override {
    const auto url = client_.address().with(upload.name, {{"uploadId", upload.id}});
    client_.send({.method = "DELETE", .url = url}, {"abort an upload of", url_of(upload.name)}, http::not_found);
  }

  std::string url_of(const std::string& name) const override { return client_.url_of(name); }
  std::size_t max_in_flight() const override { return Transfers::max_at_once; }
  void interrupt() override { client_.interrupt(); }

 private:
  /// Sends a HEAD request for the object `name`. If it fails, requests the first byte of the object, too, because an
  /// answer to HEAD has no body with the reason.
  Answer head(const std::string& name) const {
    const auto url = client_.address().of_object(name);
    const Purpose purpose{"read the properties of", url_of(name)};
    try {
      return client_.send({.method = "HEAD", .url = url}, purpose, http::not_found);
    } catch (const StorageError& error) {
      if (is_transient(error)) throw;
      std::byte first{};
      client_.send({.url = url, .range_begin = 0, .into = {&first, 1}}, purpose);
      throw;
    }
  }

  template <class Page>
  static Page page_of(Page (*read)(std::string_view), const std::string& text, const Purpose& purpose) try {
    return read(text);
  } catch (const Error& error) {
    throw Error(fmt::format("cannot parse the store's listing of '{}': {}", purpose.url, error.what()));
  }

  /// Appends the requests for `part`, a byte range of the object, to `requests`. A large range is divided into several
  /// requests, which are sent at the same time.
  void add_ranges(const StoredObject& object, const std::string& url, const ObjectPart& part,
                  std::vector<Request>& requests) const {
    if (part.into.size() > object.size || part.offset > object.size - part.into.size())
      throw Error(
          fmt::format("'{}' ends at byte {}, before the end of the part to read: it is truncated, or its header is wrong",
                      url_of(object.name), object.size));
    for (std::size_t done = 0; done < part.into.size(); done += max_range_bytes) {
      Request request{.url = url,
                      .range_begin = part.offset + done,
                      .into = part.into.subspan(done, std::min(max_range_bytes, part.into.size() - done))};
      if (!object.etag.empty()) request.headers.push_back("If-Match: " + object.etag);
      requests.push_back(std::move(request));
    }
  }

  /// Throws Error if the answer belongs to another version of the object than `object` describes.
  void require_same(const StoredObject& object, const Answer& answer) const {
    const auto slash = answer.range.rfind('/');
    const auto total = slash == std::string::npos ? "*" : answer.range.substr(slash + 1);
    const bool has_other_bytes = !object.etag.empty() && !answer.etag.empty() && answer.etag != object.etag;
    const bool has_other_size = total != "*" && total != std::to_string(object.size);
    if (answer.status != http::precondition_failed && !has_other_bytes && !has_other_size) return;
    throw Error(
        fmt::format("'{}' has changed since it was listed, with {} bytes and the ETag {}; restore it, or start again",
                    url_of(object.name), object.size, object.etag));
  }

  mutable Client client_;
};

}  // namespace

std::shared_ptr<Storage> open_bucket(const StorageUrl& url, const Store& store) {
  return std::make_shared<Bucket>(url, store);
}

}  // namespace trainrt::io::s3
