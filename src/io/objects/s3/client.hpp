#pragma once
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "io/objects/s3/address.hpp"
#include "io/objects/s3/credentials.hpp"
#include "io/objects/s3/open.hpp"
#include "io/objects/s3/transfers.hpp"

namespace trainrt::io::s3 {

/// What a request is for, in words, for messages: "read", "s3://bucket/key".
struct Purpose {
  std::string operation;
  std::string url;
};

/// Sends requests to one bucket, signed, and again if what went wrong may pass: no connection, a transfer that stalls or is
/// cut, HTTP 408, 429 and 5xx (as SlowDown). After a few tries it is thrown, as a StorageError that may pass. Any threads
/// may call.
class Client {
 public:
  Client(const StorageUrl& url, const Store& store);

  const Address& address() const { return address_; }
  std::string url_of(const std::string& name) const;
  /// `accepts`: an HTTP status that is an answer, and no error, besides 2xx.
  std::vector<Answer> send(std::span<const Request> requests, const Purpose& purpose, long accepts = 0);
  Answer send(const Request& request, const Purpose& purpose, long accepts = 0);
  /// One that cleans up, and that nobody depends on: tried once, for a moment only, after interrupt() too.
  void send_last(const Request& request);
  void interrupt() { transfers_.interrupt(); }

 private:
  struct Failure {
    bool may_pass = false;
    int error_number = 0;
    std::string text;
  };
  Failure failure_of(const Request& request, const Answer& answer, const Purpose& purpose) const;
  [[noreturn]] void fail(const Failure& failure, const Purpose& purpose) const;
  Signer signer();

  std::string scheme_, profile_, region_;
  Address address_;
  Transfers transfers_;
  std::mutex mutex_;
  bool is_anonymous_;
  Credentials credentials_;
  double found_at_s_ = 0;
};

}  // namespace trainrt::io::s3
