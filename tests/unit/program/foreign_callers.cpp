#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "program/rendezvous/nonce.hpp"
#include "program/rendezvous/reserved_port.hpp"
#include "program/services/exchange.hpp"
#include "program/services/horovod_store.hpp"
#include "program/services/identity_listener.hpp"
#include "program/services/reachability.hpp"
#include "program/services/xgboost_tracker.hpp"

using namespace trainrt::program;

namespace {

const std::string secret = "0123456789abcdef0123456789abcdef";
const std::string wrong_secret = "0123456789abcdef0123456789abcdee";

/// A listening service of the runtime, and its protocol.
class Listening {
 public:
  virtual ~Listening() = default;
  virtual int port() const = 0;
  /// Returns the first message of its protocol, with the secret `of`.
  virtual std::string greeting(const std::string& of) const = 0;
  /// Returns whether a caller with the secret is served as if there had been no other caller.
  virtual bool serves() const = 0;
  /// Returns the bytes that every caller may get, because they are always the same.
  virtual std::string public_bytes() const { return ""; }
};

Rendezvous rendezvous_of_one() {
  Rendezvous rendezvous;
  rendezvous.nodes = {0};
  rendezvous.addresses = {"127.0.0.1"};
  rendezvous.secret = rendezvous.printed_secret = secret;
  return rendezvous;
}

/// Returns a listening socket and its port.
trainrt::Descriptor listener_on(int& number) {
  ReservedPort port(ListenScope::this_node);
  port.listen();
  number = port.number();
  return port.take();
}

Peer connection_to(int port) {
  static const EndSignal end;
  return connect_to("127.0.0.1", port, end.get(), 5);
}

/// Returns the answer until the server closes the connection, or for `limit_s`.
std::string answer_to(int port, const std::string& bytes, double limit_s = 1) {
  const auto peer = connection_to(port);
  peer.write(bytes, limit_s);
  std::string heard;
  std::array<char, 4096> some{};
  while (const auto count = peer.read_some(some, limit_s)) heard.append(some.data(), count);
  return heard;
}

std::string bytes_of(std::int32_t number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

class MpiExchange : public Listening {
 public:
  int port() const override { return number_; }
  std::string greeting(const std::string& of) const override {
    return of + bytes_of(1) + bytes_of(0) + bytes_of(7) + bytes_of(4) + "spam";  // rank 0, round 7
  }
  bool serves() const override {
    static const EndSignal end;
    return exchange({"127.0.0.1", number_, secret, 0, end.get()}, 7, "mine", 5) == std::vector<std::string>{"mine"};
  }

 private:
  int number_ = 0;
  ExchangeServer server_{listener_on(number_), 1, secret, [](const auto&) { return true; }};
};

class HorovodRendezvous : public Listening {
 public:
  HorovodRendezvous() {
    server_ = std::make_unique<HorovodStore>(rendezvous_of_one(), listener_on(number_));
    answer_to(number_, request("PUT", secret, "private"));
  }
  int port() const override { return number_; }
  std::string greeting(const std::string& of) const override { return request("PUT", of, "spam"); }
  bool serves() const override { return answer_to(number_, request("GET", secret, ""), 5).ends_with("\r\n\r\nprivate"); }

 private:
  std::string request(const std::string& method, const std::string& of, const std::string& body) const {
    return fmt::format("{} /{}:{}/a/b HTTP/1.1\r\nContent-Length: {}\r\n\r\n{}", method, of, number_, body.size(), body);
  }

  int number_ = 0;
  std::unique_ptr<HorovodStore> server_;
};

class Tracker : public Listening {
 public:
  int port() const override { return number_; }
  std::string greeting(const std::string& of) const override {
    const auto hello = fmt::format(R"({{"world_size":-1,"rank":-1,"task_id":"0-{}"}})", of);
    const std::string start = R"({"cmd":1,"port":6000,"error_port":1})";
    return bytes_of(0xff99) + bytes_of(static_cast<std::int32_t>(hello.size())) + hello +
           bytes_of(static_cast<std::int32_t>(start.size())) + start;
  }
  bool serves() const override {
    return answer_to(number_, greeting(secret), 5).find(R"("port":6000)") != std::string::npos;
  }
  std::string public_bytes() const override { return bytes_of(0xff99); }

 private:
  int number_ = 0;
  XgboostTracker server_{rendezvous_of_one(), listener_on(number_)};
};

class AddressListener : public Listening {
 public:
  int port() const override { return listener_.port(); }
  std::string greeting(const std::string& of) const override { return of; }
  bool serves() const override {
    return !probe_addresses(std::vector<std::string>{"127.0.0.1"}, listener_.port(), listener_.nonce(), {5, 5})
                .front()
                .empty();
  }

 private:
  IdentityListener listener_;
};

/// Returns all listening services of the runtime. tests/frameworks/programs/test_plain_scripts.py checks that no other
/// exists.
std::vector<std::pair<std::string, std::unique_ptr<Listening>>> all_that_listen() {
  std::vector<std::pair<std::string, std::unique_ptr<Listening>>> all;
  all.emplace_back("MPI's exchange", std::make_unique<MpiExchange>());
  all.emplace_back("Horovod's rendezvous", std::make_unique<HorovodRendezvous>());
  all.emplace_back("XGBoost's tracker", std::make_unique<Tracker>());
  all.emplace_back("the identity listener", std::make_unique<AddressListener>());
  return all;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("a caller without the secret gets no data from any service, and changes nothing") {
  for (const auto& [name, service] : all_that_listen()) {
    INFO(name);
    const std::vector<std::string> tries = {"",
                                            service->greeting(wrong_secret),
                                            service->greeting(std::string(32, '\0')),
                                            service->greeting(""),
                                            service->greeting(secret.substr(0, 31)),
                                            "GET /a/b HTTP/1.1\r\n\r\n",
                                            "PUT /a/b HTTP/1.1\r\nContent-Length: 4\r\n\r\nspam",
                                            "DELETE /a/b HTTP/1.1\r\n\r\n",
                                            std::string(100'000, 'x'),
                                            std::string(100'000, '\0'),
                                            std::string(100'000, '\xff')};
    for (const auto& bytes : tries) {
      const auto heard = answer_to(service->port(), bytes, 0.05);
      CHECK((heard.empty() || heard == service->public_bytes()));
    }
    CHECK(service->serves());
  }
}

TEST_CASE("callers without the secret cannot delay callers with it, in any number and at any speed") {
  for (const auto& [name, service] : all_that_listen()) {
    INFO(name);
    std::vector<Peer> silent;
    for (int count = 0; count < 300; ++count) {  // more than may be pending
      silent.push_back(connection_to(service->port()));
      if (count % 2 == 0) silent.back().write(service->greeting(wrong_secret).substr(0, 8), 1);
    }
    const auto start = std::chrono::steady_clock::now();
    for (int turn = 0; turn < 3; ++turn) CHECK(service->serves());
    CHECK(seconds_since(start) < 5);
    for (const auto& caller : silent) caller.write(service->greeting(wrong_secret).substr(8), 1);
    CHECK(service->serves());
  }
}

TEST_CASE("a secret matches only if it is equal in length and content") {
  CHECK(is_same_secret(secret, secret));
  CHECK_FALSE(is_same_secret(wrong_secret, secret));
  CHECK_FALSE(is_same_secret(secret.substr(1), secret));
  CHECK_FALSE(is_same_secret(secret + "0", secret));
  CHECK_FALSE(is_same_secret("", ""));  // an empty secret admits no caller
}
