#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "io/files/file.hpp"
#include "io/objects/s3/client.hpp"
#include "io/objects/s3/upload.hpp"
#include "io/objects/s3/xml.hpp"
#include "io/storage_error.hpp"

namespace trainrt::io::s3 {

namespace {

constexpr std::size_t range_bytes = 4 << 20;  // of one request, at most
constexpr long missing = 404, was_changed = 412, not_implemented = 501;

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

  std::optional<StoredObject> look(const std::string& name) const override {
    const auto answer = head(name);
    if (answer.status == missing) return std::nullopt;
    if (answer.length < 0) throw Error(fmt::format("the store does not say how long '{}' is", url_of(name)));
    return StoredObject{name, static_cast<std::uint64_t>(answer.length), answer.etag, answer.changed_s * 1'000'000'000};
  }

  void read(const StoredObject& object, std::span<const ObjectPart> parts) const override {
    const auto url = client_.address().of_object(object.name);
    std::vector<Request> requests;
    for (const auto& part : parts) add_ranges(object, url, part, requests);
    if (requests.empty()) return;
    for (const auto& answer : client_.send(requests, {"read", url_of(object.name)}, was_changed))
      require_same(object, answer);
  }

  StoredObject put(const std::string& file, const std::string& name) override {
    const auto sent = upload(client_, file, name);
    const auto there = look(name);
    if (!there || there->size != sent.size || (!sent.etag.empty() && there->etag != sent.etag))
      throw StorageError(fmt::format("'{}' is not there as it was sent: {}", url_of(name),
                                     there ? fmt::format("{} bytes, and {} were sent", there->size, sent.size) : "missing"),
                         EIO, url_of(name));
    return *there;
  }

  void remove(const std::string& name) override {
    client_.send({.method = "DELETE", .url = client_.address().of_object(name)}, {"remove", url_of(name)}, missing);
  }

  std::vector<UnfinishedUpload> unfinished_uploads(const std::string& prefix) const override {
    std::vector<UnfinishedUpload> found;
    const Purpose purpose{"list the unfinished uploads of", url_of(prefix)};
    for (std::string name, id;;) {
      std::vector<std::pair<std::string, std::string>> query{{"uploads", ""}, {"prefix", prefix}, {"encoding-type", "url"}};
      if (!name.empty()) query.emplace_back("key-marker", name);
      if (!id.empty()) query.emplace_back("upload-id-marker", id);
      const auto answer = client_.send({.url = client_.address().with("", query)}, purpose, not_implemented);
      if (answer.status == not_implemented) throw Error("the store does not list unfinished uploads (HTTP 501)");
      auto page = page_of(listed_uploads, answer.text, purpose);
      for (auto& upload : page.uploads)  // a store may pass over a parameter that it does not know
        if (upload.name.starts_with(prefix)) found.push_back(std::move(upload));
      if (page.next_name.empty() || (page.next_name == name && page.next_id == id)) return found;
      name = std::move(page.next_name);
      id = std::move(page.next_id);
    }
  }

  void abort_upload(const UnfinishedUpload& upload) override {
    const auto url = client_.address().with(upload.name, {{"uploadId", upload.id}});
    client_.send({.method = "DELETE", .url = url}, {"abort an upload of", url_of(upload.name)}, missing);
  }

  std::string url_of(const std::string& name) const override { return client_.url_of(name); }
  std::size_t most_in_flight() const override { return Transfers::most_at_once; }
  void interrupt() override { client_.interrupt(); }

 private:
  /// What a HEAD brings has no text that says what is wrong: then the first byte is asked for.
  Answer head(const std::string& name) const {
    const auto url = client_.address().of_object(name);
    const Purpose purpose{"look at", url_of(name)};
    try {
      return client_.send({.method = "HEAD", .url = url}, purpose, missing);
    } catch (const StorageError& error) {
      if (may_pass(error)) throw;
      std::byte first{};
      client_.send({.url = url, .range_begin = 0, .into = {&first, 1}}, purpose);
      throw;
    }
  }

  template <class Page>
  static Page page_of(Page (*read)(std::string_view), const std::string& text, const Purpose& purpose) try {
    return read(text);
  } catch (const Error& error) {
    throw Error(fmt::format("what the store answers to the listing of '{}' cannot be read: {}", purpose.url, error.what()));
  }

  /// Large parts go in several requests, so that they are under way at once.
  void add_ranges(const StoredObject& object, const std::string& url, const ObjectPart& part,
                  std::vector<Request>& requests) const {
    if (part.into.size() > object.size || part.offset > object.size - part.into.size())
      throw Error(
          fmt::format("'{}' ends at byte {}, and more of it was to be read: it is truncated, or its header is wrong",
                      url_of(object.name), object.size));
    for (std::size_t done = 0; done < part.into.size(); done += range_bytes) {
      Request request{.url = url,
                      .range_begin = part.offset + done,
                      .into = part.into.subspan(done, std::min(range_bytes, part.into.size() - done))};
      if (!object.etag.empty()) request.headers.push_back("If-Match: " + object.etag);
      requests.push_back(std::move(request));
    }
  }

  void require_same(const StoredObject& object, const Answer& answer) const {
    const auto slash = answer.range.rfind('/');
    const auto whole = slash == std::string::npos ? "*" : answer.range.substr(slash + 1);
    const bool has_other_bytes = !object.etag.empty() && !answer.etag.empty() && answer.etag != object.etag;
    const bool has_other_size = whole != "*" && whole != std::to_string(object.size);
    if (answer.status != was_changed && !has_other_bytes && !has_other_size) return;
    throw Error(fmt::format("'{}' was changed while it is used: it was listed with {} bytes and the ETag {}",
                            url_of(object.name), object.size, object.etag));
  }

  mutable Client client_;
};

}  // namespace

std::shared_ptr<Storage> open_bucket(const StorageUrl& url, const Store& store) {
  return std::make_shared<Bucket>(url, store);
}

}  // namespace trainrt::io::s3
