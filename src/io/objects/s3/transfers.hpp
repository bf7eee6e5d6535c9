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

/// HTTP status codes.
namespace http {
inline constexpr long ok = 200, partial = 206, moved_permanently = 301, temporary_redirect = 307, forbidden = 403,
                      not_found = 404, request_timeout = 408, precondition_failed = 412, too_many_requests = 429,
                      server_error = 500, not_implemented = 501;
}

/// An HTTP request, and the buffer that receives the requested bytes.
struct Request {
  std::string method = "GET";  ///< GET, HEAD, PUT, POST or DELETE
  std::string url;  ///< percent-encoded, with a sorted query string, because the signature covers the URL as it is sent
  std::vector<std::string> headers = {};  ///< complete header lines without line breaks: "If-Match: x"
  std::span<const std::byte> body = {};   ///< body of a PUT or POST request
  /// Offset of the requested byte range, which has into.size() bytes; nullopt: no range.
  std::optional<std::uint64_t> range_begin = {};
  std::span<std::byte> into = {};  ///< buffer that is filled with the requested byte range
};

/// The answer to an HTTP request, or the reason why no complete answer was received.
struct Answer {
  int code = 0;                            ///< error code of libcurl (CURLcode); 0 = the answer is complete
  std::string problem;                     ///< description of the libcurl error `code`
  bool is_truncated = false;               ///< the transfer failed after the answer had begun
  long status = 0;                         ///< HTTP status code
  std::string text;                        ///< body of the answer, except for the bytes of a range
  std::size_t filled = 0;                  ///< number of bytes written to Request::into
  std::string etag, range, bucket_region;  ///< values of the headers; "" if missing
  std::int64_t length = -1;                ///< value of the header Content-Length; -1 if missing
  std::int64_t changed_s = 0;              ///< header Last-Modified, in seconds since 1970; 0 if missing
};

/// Credentials for AWS Signature Version 4, with which libcurl signs requests. The signature covers the SHA-256 of the
/// body. Requests are not signed if `key` is empty.
struct Signer {
  std::string key, secret, token, region;
};

/// Sends HTTP requests over connections that are kept open. Thread-safe. The text of an answer is limited to 16 MiB.
class Transfers {
 public:
  static constexpr std::size_t max_at_once = 8;  ///< maximum number of requests of one call that are sent at the same time

  Transfers();
  ~Transfers();
  Transfers(const Transfers&) = delete;

  /// Sends `requests` and returns their answers in the same order. Aborts a transfer that is slower than 1 KiB/s for
  /// `stall_s` seconds. Throws Error if interrupt() is called.
  std::vector<Answer> run(std::span<const Request> requests, const Signer& signer, double stall_s);
  /// Sends one cleanup request (such as the abort of an upload), which interrupt() does not stop.
  Answer run_last(const Request& request, const Signer& signer, double stall_s);
  /// Interrupts HTTP transfers: running and later calls of run() soon throw Error. Any thread may call interrupt().
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
