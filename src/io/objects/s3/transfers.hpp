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

/// Status codes of HTTP.
namespace http {
inline constexpr long ok = 200, partial = 206, moved_permanently = 301, temporary_redirect = 307, forbidden = 403,
                      not_found = 404, request_timeout = 408, precondition_failed = 412, too_many_requests = 429,
                      server_error = 500, not_implemented = 501;
}

/// An HTTP request, and the memory for the bytes that it reads.
struct Request {
  std::string method = "GET";             ///< or HEAD, PUT, POST, DELETE
  std::string url;                        ///< encoded, with a sorted query, because the signature covers it as it is sent
  std::vector<std::string> headers = {};  ///< complete lines without line ends: "If-Match: x"
  std::span<const std::byte> body = {};   ///< of a PUT or POST
  std::optional<std::uint64_t> range_begin = {};  ///< requests the range of the object from here on, as long as `into`
  std::span<std::byte> into = {};                 ///< filled with the requested range
};

/// The answer to a Request, or the reason why there is no complete one.
struct Answer {
  int code = 0;                            ///< of libcurl; 0 = the answer is complete
  std::string problem;                     ///< description of `code`
  bool is_truncated = false;               ///< the answer began, and the transfer failed
  long status = 0;                         ///< of HTTP
  std::string text;                        ///< body, except for the bytes of a range
  std::size_t filled = 0;                  ///< number of bytes written to Request::into
  std::string etag, range, bucket_region;  ///< headers; "" if missing
  std::int64_t length = -1;                ///< Content-Length; -1 if missing
  std::int64_t changed_s = 0;              ///< Last-Modified, since 1970; 0 if missing
};

/// Credentials for signing requests by AWS Signature Version 4, which libcurl computes. The signature covers the SHA-256 of
/// the body. Requests are not signed if `key` is empty.
struct Signer {
  std::string key, secret, token, region;
};

/// Sends HTTP requests over connections that are kept open. Any thread may call. Allocates at most 16 MiB for the text of
/// an answer.
class Transfers {
 public:
  static constexpr std::size_t max_at_once = 8;  ///< requests of one call that are sent at the same time

  Transfers();
  ~Transfers();
  Transfers(const Transfers&) = delete;

  /// Sends requests and returns their answers in the same order. Aborts a transfer that is slower than 1 KiB/s for
  /// `stall_s` seconds. Throws Error if it is interrupted.
  std::vector<Answer> run(std::span<const Request> requests, const Signer& signer, double stall_s);
  /// Sends one request for cleaning up, which interrupt() does not stop.
  Answer run_last(const Request& request, const Signer& signer, double stall_s);
  /// Makes running and later calls of run() throw Error soon.
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
