#include "io/objects/s3/transfers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/sha256.hpp"
#include "core/text/text.hpp"
#include "io/objects/s3/address.hpp"
#include "io/objects/s3/curl_api.hpp"

namespace trainrt::io::s3 {

namespace {

// Maximum size of the text of an answer; a page of a listing has 1000 names of up to 3 KiB.
constexpr std::size_t max_text_bytes = 16 << 20;
constexpr long max_connect_s = 10;
constexpr long min_bytes_per_s = 1024;

/// A running HTTP request, and the memory to which libcurl has pointers.
struct Exchange {
  CURL* easy = nullptr;
  const Request* request = nullptr;
  Answer* answer = nullptr;
  curl_slist* headers = nullptr;
  std::array<char, CURL_ERROR_SIZE> why{};
};

std::size_t take_body(char* bytes, std::size_t, std::size_t count, void* opaque) {
  auto& exchange = *static_cast<Exchange*>(opaque);
  auto& answer = *exchange.answer;
  if (answer.status == 0) curl().easy_getinfo(exchange.easy, CURLINFO_RESPONSE_CODE, &answer.status);
  if (exchange.request->range_begin && answer.status == http::partial) {
    const auto into = exchange.request->into.subspan(answer.filled);
    if (count > into.size()) return 0;  // more bytes than requested: libcurl then fails with CURLE_WRITE_ERROR
    std::memcpy(into.data(), bytes, count);
    answer.filled += count;
    return count;
  }
  if (exchange.request->range_begin && answer.status == http::ok) return 0;  // the store ignores the header Range
  if (count > max_text_bytes - answer.text.size()) return 0;
  answer.text.append(bytes, count);
  return count;
}

std::size_t take_header(char* bytes, std::size_t, std::size_t count, void* opaque) {
  auto& answer = *static_cast<Exchange*>(opaque)->answer;
  const std::string_view line(bytes, count);
  const auto colon = line.find(':');
  if (line.starts_with("HTTP/"))
    answer.etag = answer.range = answer.bucket_region = "";  // drops the headers of an interim answer (100 Continue)
  if (colon == std::string_view::npos || count > 8192) return count;
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  const auto value = trim(line.substr(colon + 1));
  if (name == "etag") answer.etag = value;
  if (name == "content-range") answer.range = value;
  if (name == "x-amz-bucket-region") answer.bucket_region = value;
  return count;
}

void add_header(Exchange& exchange, const std::string& line) {
  auto* const longer = curl().slist_append(exchange.headers, line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  exchange.headers = longer;
}

template <class Value>
void set(const Exchange& exchange, CURLoption option, Value value) {
  curl().easy_setopt(exchange.easy, option, value);
}

void set_method(const Exchange& exchange) {
  const auto& request = *exchange.request;
  if (request.method == "HEAD") {
    set(exchange, CURLOPT_NOBODY, 1L);
  } else if (request.method == "PUT" || request.method == "POST") {
    set(exchange, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(exchange, CURLOPT_POSTFIELDS, request.body.empty() ? "" : reinterpret_cast<const char*>(request.body.data()));
    set(exchange, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  } else if (request.method != "GET") {
    set(exchange, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
  if (request.range_begin)
    set(exchange, CURLOPT_RANGE,
        fmt::format("{}-{}", *request.range_begin, *request.range_begin + request.into.size() - 1).c_str());
}

void set_limits(const Exchange& exchange, double stall_s) {
  set(exchange, CURLOPT_NOSIGNAL, 1L);
  set(exchange, CURLOPT_CONNECTTIMEOUT, std::min(max_connect_s, std::max(1L, static_cast<long>(stall_s))));
  set(exchange, CURLOPT_LOW_SPEED_LIMIT, min_bytes_per_s);
  set(exchange, CURLOPT_LOW_SPEED_TIME, std::max(1L, static_cast<long>(stall_s)));
  set(exchange, CURLOPT_PROTOCOLS_STR, "http,https");
  set(exchange, CURLOPT_HTTP_VERSION,
      static_cast<long>(CURL_HTTP_VERSION_1_1));  // HTTP/1.1 uses one connection per transfer
  set(exchange, CURLOPT_BUFFERSIZE, 64L << 10);   // buffer size in bytes, small enough for the processor cache
  set(exchange, CURLOPT_TCP_KEEPALIVE, 1L);
  set(exchange, CURLOPT_FILETIME, 1L);
  set(exchange, CURLOPT_EXPECT_100_TIMEOUT_MS,
      1L);  // disabling the wait for 100 Continue by an empty Expect header breaks the signature
  if (const char* authorities = std::getenv("AWS_CA_BUNDLE")) set(exchange, CURLOPT_CAINFO, authorities);
}

/// Throws UsageError if libcurl would request a different object, because it changes the path of the URL.
void set_path(const Exchange& exchange, const Signer& signer) {
  const bool is_normalized = !signer.key.empty() && curl().normalizes_signed_paths;
  if (is_normalized && has_dot_segment(exchange.request->url))
    throw UsageError(
        fmt::format("'{}': libcurl 8.14 and newer cannot sign requests for objects whose names have a segment "
                    "'.' or '..'; rename the object",
                    exchange.request->url));
  set(exchange, CURLOPT_PATH_AS_IS, is_normalized ? 0L : 1L);
}

void set_signature(Exchange& exchange, const Signer& signer) {
  if (signer.key.empty()) return;
  set(exchange, CURLOPT_AWS_SIGV4, fmt::format("aws:amz:{}:s3", signer.region).c_str());
  set(exchange, CURLOPT_USERNAME, signer.key.c_str());
  set(exchange, CURLOPT_PASSWORD, signer.secret.c_str());
  add_header(exchange, "x-amz-content-sha256: " + sha256_digits(exchange.request->body));
  if (!signer.token.empty()) add_header(exchange, "x-amz-security-token: " + signer.token);
}

void prepare(Exchange& exchange, const Signer& signer, double stall_s) {
  curl().easy_reset(exchange.easy);
  exchange.why.front() = '\0';
  set(exchange, CURLOPT_URL, exchange.request->url.c_str());
  set(exchange, CURLOPT_ERRORBUFFER, exchange.why.data());
  set(exchange, CURLOPT_PRIVATE, &exchange);
  set(exchange, CURLOPT_WRITEFUNCTION, take_body);
  set(exchange, CURLOPT_WRITEDATA, &exchange);
  set(exchange, CURLOPT_HEADERFUNCTION, take_header);
  set(exchange, CURLOPT_HEADERDATA, &exchange);
  set_path(exchange, signer);
  set_limits(exchange, stall_s);
  set_method(exchange);
  set_signature(exchange, signer);
  for (const auto& line : exchange.request->headers) add_header(exchange, line);
  if (exchange.request->method == "PUT" || exchange.request->method == "POST")
    add_header(exchange, "Content-Type: application/octet-stream");
  set(exchange, CURLOPT_HTTPHEADER, exchange.headers);
}

void finish(Exchange& exchange, CURLcode code) {
  const auto& api = curl();
  auto& answer = *exchange.answer;
  answer.code = code;
  api.easy_getinfo(exchange.easy, CURLINFO_RESPONSE_CODE, &answer.status);
  curl_off_t value = -1;
  api.easy_getinfo(exchange.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &value);
  answer.length = value;
  api.easy_getinfo(exchange.easy, CURLINFO_FILETIME_T, &value);
  // Limited so that the time in nanoseconds fits into 64 bits.
  answer.changed_s = std::clamp<curl_off_t>(value, 0, 9'000'000'000);
  answer.is_truncated = answer.status != 0 && code != CURLE_OK;
  if (code != CURLE_OK) answer.problem = exchange.why.front() != '\0' ? exchange.why.data() : api.easy_strerror(code);
  if (code == CURLE_WRITE_ERROR && exchange.request->range_begin)
    answer.problem = answer.status == http::ok ? "the store sends the complete object instead of the requested range"
                                               : "the store sends more bytes than requested";
}

}  // namespace

/// A set of HTTP connections (a multi handle of libcurl), used by one call of run() at a time.
class Transfers::Lane {
 public:
  Lane() : multi_(curl().multi_init()) {
    if (multi_ == nullptr) throw std::bad_alloc();
    curl().multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(max_at_once));
    for (auto& exchange : exchanges_)
      if ((exchange.easy = curl().easy_init()) == nullptr) throw std::bad_alloc();
  }
  ~Lane() {
    for (auto& exchange : exchanges_) {
      clear(exchange);
      if (exchange.easy != nullptr) curl().easy_cleanup(exchange.easy);
    }
    curl().multi_cleanup(multi_);
  }
  Lane(const Lane&) = delete;

  void run(std::span<const Request> requests, std::span<Answer> answers, const Signer& signer, double stall_s,
           const std::atomic<bool>& interrupted) {
    constexpr int poll_ms = 100;
    std::size_t started = 0, finished = 0;
    while (finished < requests.size()) {
      for (auto& exchange : exchanges_)
        if (exchange.request == nullptr && started < requests.size()) {
          begin(exchange, requests[started], answers[started], signer, stall_s);
          ++started;
        }
      if (interrupted) throw Error("the transfer was interrupted");
      int running = 0;
      curl().multi_perform(multi_, &running);
      const auto count = finish_done();
      finished += count;
      if (count == 0) curl().multi_poll(multi_, nullptr, 0, poll_ms, nullptr);
    }
  }

 private:
  void begin(Exchange& exchange, const Request& request, Answer& answer, const Signer& signer, double stall_s) {
    exchange.request = &request;
    exchange.answer = &answer;
    prepare(exchange, signer, stall_s);
    if (curl().multi_add_handle(multi_, exchange.easy) != CURLM_OK) throw Error("libcurl cannot start another transfer");
  }

  /// Completes each transfer for which libcurl reports the end, and fills its answer. Returns the number of these
  /// transfers.
  std::size_t finish_done() {
    std::size_t count = 0;
    int left = 0;
    while (const auto* message = curl().multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const auto code = message->data.result;
      void* own = nullptr;
      curl().easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &own);
      auto& exchange = *static_cast<Exchange*>(own);
      finish(exchange, code);
      clear(exchange);
      ++count;
    }
    return count;
  }

  void clear(Exchange& exchange) {
    if (exchange.request != nullptr) curl().multi_remove_handle(multi_, exchange.easy);
    curl().slist_free_all(exchange.headers);
    exchange.headers = nullptr;
    exchange.request = nullptr;
  }

  CURLM* multi_;
  std::array<Exchange, max_at_once> exchanges_;
};

Transfers::Transfers() { curl(); }
Transfers::~Transfers() = default;

std::unique_ptr<Transfers::Lane> Transfers::take() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::make_unique<Lane>();
  auto lane = std::move(idle_.back());
  idle_.pop_back();
  return lane;
}

std::vector<Answer> Transfers::run(std::span<const Request> requests, const Signer& signer, double stall_s) {
  return run(requests, signer, stall_s, interrupted_);
}

Answer Transfers::run_last(const Request& request, const Signer& signer, double stall_s) {
  static const std::atomic<bool> never = false;
  return std::move(run({&request, 1}, signer, stall_s, never).front());
}

std::vector<Answer> Transfers::run(std::span<const Request> requests, const Signer& signer, double stall_s,
                                   const std::atomic<bool>& interrupted) {
  std::vector<Answer> answers(requests.size());
  auto lane = take();
  lane->run(requests, answers, signer, stall_s, interrupted);
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(lane));
  return answers;
}

}  // namespace trainrt::io::s3
