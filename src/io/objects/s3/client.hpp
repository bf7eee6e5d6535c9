#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "io/objects/s3/address.hpp"
#include "io/objects/s3/credentials.hpp"
#include "io/objects/s3/open.hpp"
#include "io/objects/s3/transfers.hpp"

namespace trainrt::io::s3 {

/// Purpose of a request, for error messages: an operation ("read") and a URL ("s3://bucket/key").
struct Purpose {
  std::string operation;
  std::string url;
};

/// Sends signed requests to one bucket of an S3-compatible store. Thread-safe. Repeats a request that fails with a
/// transient error: no connection, a transfer that stalls or is truncated, HTTP 408, 429 and 5xx (such as SlowDown).
/// After a few tries, throws the error as a transient StorageError.
class Client {
 public:
  Client(const StorageUrl& url, const Store& store);

  const Address& address() const { return address_; }
  std::string url_of(const std::string& name) const;
  /// Sends `requests` and returns their answers in the same order. Throws StorageError unless the HTTP status of each
  /// answer is 2xx or `accepts`.
  std::vector<Answer> send(std::span<const Request> requests, const Purpose& purpose, long accepts = 0);
  Answer send(const Request& request, const Purpose& purpose, long accepts = 0);
  /// Sends a cleanup request (such as the abort of an upload), even after interrupt(). Tries once, with a short timeout.
  void send_last(const Request& request);
  void interrupt() { transfers_.interrupt(); }

 private:
  struct Failure {
    bool is_transient = false;
    int error_number = 0;
    std::string text;
  };
  Failure failure_of(const Request& request, const Answer& answer, const Purpose& purpose) const;
  Signer signer();

  std::string scheme_, profile_, region_;
  Address address_;
  Transfers transfers_;
  std::mutex mutex_;
  bool has_own_keys_;  // whether the Store has keys, which do not change
  bool is_anonymous_;
  Credentials credentials_;
  double credentials_read_s_ = 0;  // monotonic time, in seconds, at which `credentials_` were read
};

}  // namespace trainrt::io::s3
