#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainrt::io::s3 {

/// One request over HTTP, and where what it brings goes.
struct Request {
  std::string method = "GET";  ///< or HEAD, PUT, POST, DELETE
  std::string url;             ///< encoded, its query sorted by name: what is signed is what is sent
  std::vector<std::string> headers = {};
  std::span<const std::byte> body = {};           ///< of a PUT or POST
  std::optional<std::uint64_t> range_begin = {};  ///< asks for so many bytes as `into` has, from there on
  std::span<std::byte> into = {};                 ///< filled by an answer 206
};

struct Answer {
  int code = 0;                            ///< libcurl's: 0 = an answer came, whole
  std::string problem;                     ///< in words, if none came
  bool is_cut = false;                     ///< it began to come
  long status = 0;                         ///< of HTTP
  std::string text;                        ///< what it brought, but for a range
  std::size_t filled = 0;                  ///< bytes of Request::into
  std::string etag, range, bucket_region;  ///< headers; empty if they did not come
  std::int64_t length = -1;                ///< Content-Length, if it came
  std::int64_t changed_s = 0;              ///< Last-Modified, since 1970; 0 if it did not come
};

/// Who signs a request (AWS Signature Version 4, which libcurl computes), with the SHA-256 of its body; nobody if the key
/// is empty.
struct Signer {
  std::string key, secret, token, region;
};

/// Sends requests, `most_at_once` of a call at the same time, over connections that are kept. A transfer that stalls (less
/// than 1 KiB a second) ends after `stall_s`. Any threads may call; memory is that of the callers and 16 MiB a text at
/// most.
class Transfers {
 public:
  static constexpr std::size_t most_at_once = 8;

  Transfers();
  ~Transfers();
  Transfers(const Transfers&) = delete;

  std::vector<Answer> run(std::span<const Request> requests, const Signer& signer, double stall_s);
  /// One that cleans up: goes out after interrupt() too.
  Answer run_last(const Request& request, const Signer& signer, double stall_s);
  /// Calls of run() under way and later ones throw Error soon.
  void interrupt() { interrupted_ = true; }

 private:
  class Lane;
  std::unique_ptr<Lane> take();
  std::vector<Answer> run(std::span<const Request> requests, const Signer& signer, double stall_s,
                          const std::atomic<bool>& interrupted);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> idle_;
  std::atomic<bool> interrupted_ = false;
};

}  // namespace trainrt::io::s3
