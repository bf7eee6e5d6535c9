#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "io/objects/s3/address.hpp"
#include "io/objects/s3/credentials.hpp"
#include "io/objects/s3/open.hpp"
#include "io/objects/s3/transfers.hpp"

namespace trainrt::io::s3 {

/// Describes a request for error messages: "read", "s3://bucket/key".
struct Purpose {
  std::string operation;
  std::string url;
};

/// Sends signed requests to one bucket. Repeats requests that fail with a transient error: no connection, a transfer that
/// stalls or is truncated, HTTP 408, 429 and 5xx (such as SlowDown). After a few tries it throws the error as a transient
/// StorageError. Any thread may call.
class Client {
 public:
  Client(const StorageUrl& url, const Store& store);

  const Address& address() const { return address_; }
  std::string url_of(const std::string& name) const;
  /// Returns the answers to `requests`. Besides 2xx, the HTTP status `accepts` is not an error.
  std::vector<Answer> send(std::span<const Request> requests, const Purpose& purpose, long accepts = 0);
  Answer send(const Request& request, const Purpose& purpose, long accepts = 0);
  /// Sends a request for cleaning up, even after interrupt(). Tries once, with a short time limit.
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
  bool is_anonymous_;
  Credentials credentials_;
  double credentials_read_s_ = 0;  // monotonic time
};

}  // namespace trainrt::io::s3
