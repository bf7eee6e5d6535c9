#include "io/objects/s3/client.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <numeric>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "core/host.hpp"
#include "core/text/text.hpp"
#include "io/objects/s3/xml.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::io::s3 {

namespace {

constexpr int max_tries = 4;
constexpr double first_pause_s = 0.1;
// Credentials are read again after this number of seconds, because other programs rewrite the credentials file when keys
// expire.
constexpr double credentials_last_s = 60;

/// Sleeps before retry number `next_try`, for a random time between half and all of a pause that doubles with each retry.
/// The random time keeps ranks that failed together from retrying together.
void pause_before(int next_try) {
  thread_local std::minstd_rand random(std::random_device{}());
  const double pause_s = first_pause_s * static_cast<double>(1 << next_try);
  std::this_thread::sleep_for(
      std::chrono::duration<double>(std::uniform_real_distribution<double>(pause_s / 2, pause_s)(random)));
}

std::string endpoint_of(const Store& store, const Environment& environment) {
  if (!store.endpoint.empty()) return store.endpoint;
  for (const auto& variable : store.endpoint_variables)
    if (const auto value = environment.text(variable); value && !value->empty()) return *value;
  return "";
}

std::string region_of(const Store& store, const Environment& environment) {
  return store.region.empty() ? find_region(environment, store.profile) : store.region;
}

double stall_limit_s() {
  const auto timeout_s = storage_timeout();
  return timeout_s > 0 ? std::clamp(timeout_s / 3, 1.0, 20.0) : 10.0;
}

std::string_view advice_for_status(long status, const std::string& code, bool is_signed) {
  if (code == "NoSuchBucket") return "check the name of the bucket, the endpoint and the region";
  if (code == "RequestTimeTooSkewed") return "the clock of this node is wrong: correct it";
  if (code == "ExpiredToken" || code == "InvalidToken") return "the session token is not valid any more: get a new token";
  if (status == http::forbidden)
    return is_signed
               ? "these credentials have no permission for this request: check the credentials, and the policy of the "
                 "bucket"
               : "no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write ~/.aws/credentials";
  if (status == http::not_found) return "check the name of the bucket and of the object";
  if (status == http::moved_permanently || status == http::temporary_redirect || code == "AuthorizationHeaderMalformed")
    return "the bucket is in another region: set AWS_REGION";
  if (status >= http::server_error || status == http::too_many_requests) return "the store is overloaded or broken";
  return "check the endpoint, the region and the credentials";
}

int error_number_of(long status) {
  if (status == http::forbidden) return EACCES;
  if (status == http::not_found) return ENOENT;
  return EINVAL;
}

bool is_transient_status(long status, const std::string& code) {
  return status >= http::server_error || status == http::too_many_requests || status == http::request_timeout ||
         code == "RequestTimeout" || code == "SlowDown";
}

/// Returns whether an error of libcurl is permanent, so that repeating the request cannot help. `code`: a CURLcode.
bool is_final(int code) {
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_OUT_OF_MEMORY:
      return true;
    default:
      return false;
  }
}

bool is_good(const Request& request, const Answer& answer, long accepts) {
  if (answer.code != CURLE_OK) return false;
  if (answer.status == accepts) return true;
  if (request.range_begin) return answer.status == http::partial && answer.filled == request.into.size();
  return answer.status >= 200 && answer.status < 300;
}

}  // namespace

Client::Client(const StorageUrl& url, const Store& store)
    : scheme_(url.scheme),
      profile_(store.profile),
      region_(region_of(store, Environment::of_process())),
      address_(url.bucket, endpoint_of(store, Environment::of_process()), region_),
      has_own_keys_(!store.keys.key.empty()),
      is_anonymous_(store.anonymous && !has_own_keys_),
      credentials_(has_own_keys_ || is_anonymous_ ? store.keys : find_credentials(Environment::of_process(), profile_)),
      credentials_read_s_(monotonic_seconds()) {}

std::string Client::url_of(const std::string& name) const {
  return fmt::format("{}://{}/{}", scheme_, address_.bucket(), printable_lines(excerpt(name) + "\n").front());
}

Signer Client::signer() {
  const std::lock_guard lock(mutex_);
  if (!has_own_keys_ && !is_anonymous_ && monotonic_seconds() - credentials_read_s_ > credentials_last_s) {
    credentials_ = find_credentials(Environment::of_process(), profile_);
    credentials_read_s_ = monotonic_seconds();
  }
  return {credentials_.key, credentials_.secret, credentials_.token, region_};
}

Client::Failure Client::failure_of(const Request& request, const Answer& answer, const Purpose& purpose) const {
  const auto begin = fmt::format("cannot {} '{}' at {}: ", purpose.operation, purpose.url, address_.endpoint());
  if (answer.code != CURLE_OK && (answer.status < 300 || answer.text.empty()))
    return {!is_final(answer.code), ETIMEDOUT,
            begin + answer.problem +
                (answer.is_truncated ? fmt::format(" (HTTP {}, {} bytes received)", answer.status, answer.filled)
                                     : std::string("; check the endpoint and the network"))};
  if (request.range_begin && answer.status == http::partial)
    return {true, ETIMEDOUT, begin + fmt::format("{} of {} bytes received", answer.filled, request.into.size())};
  const auto error = store_error(answer.text);
  auto text = begin + fmt::format("HTTP {}", answer.status);
  if (!error.code.empty()) text += ", " + excerpt(first_line(error.code), 60);
  if (!error.message.empty()) text += fmt::format(" ({})", printable_lines(excerpt(error.message, 200) + "\n").front());
  const auto& region = error.region.empty() ? answer.bucket_region : error.region;
  if (!region.empty() && region != region_) text += fmt::format("; the bucket is in the region {}", excerpt(region, 40));
  text.append("; ").append(advice_for_status(answer.status, error.code, !credentials_.key.empty()));
  const bool is_transient = is_transient_status(answer.status, error.code);
  return {is_transient, is_transient ? EAGAIN : error_number_of(answer.status), text};
}

std::vector<Answer> Client::send(std::span<const Request> requests, const Purpose& purpose, long accepts) {
  std::vector<Answer> answers(requests.size());
  std::vector<std::size_t> open(requests.size());  // indexes of the requests that have no valid answer yet
  std::iota(open.begin(), open.end(), 0);
  const auto started_s = monotonic_seconds();
  for (int tries = 1;; ++tries) {
    std::vector<Request> now;
    for (const auto i : open) now.push_back(requests[i]);
    auto received = transfers_.run(now, signer(), stall_limit_s());
    std::vector<std::size_t> left;
    std::optional<Failure> failure;
    for (std::size_t i = 0; i < open.size(); ++i) {
      auto& answer = answers[open[i]] = std::move(received[i]);
      if (is_good(now[i], answer, accepts)) continue;
      left.push_back(open[i]);
      auto found = failure_of(now[i], answer, purpose);
      if (!failure || !found.is_transient) failure = std::move(found);
    }
    if (!failure) return answers;
    if (!failure->is_transient || tries == max_tries || monotonic_seconds() - started_s > stall_limit_s())
      throw StorageError(failure->text, failure->error_number, purpose.url);
    open = std::move(left);
    pause_before(tries);
  }
}

Answer Client::send(const Request& request, const Purpose& purpose, long accepts) {
  return std::move(send({&request, 1}, purpose, accepts).front());
}

void Client::send_last(const Request& request) {
  constexpr double stall_s = 1;
  transfers_.run_last(request, signer(), stall_s);
}

}  // namespace trainrt::io::s3
