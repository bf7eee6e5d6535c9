#include "program/services/horovod_store.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "program/rendezvous/reserved_port.hpp"

using namespace trainrt::program;
using Catch::Matchers::Contains;

namespace {

/// A store that serves three ranks: 0 and 1 on the first node, and 2 on the second.
class ServedStore {
 public:
  static constexpr const char* secret = "0123456789abcdef0123456789abcdef";

  explicit ServedStore(const std::string& address = "127.0.0.1") {
    ReservedPort port;
    port.listen();
    number_ = port.number();
    Rendezvous rendezvous;
    rendezvous.size = 3;
    rendezvous.nodes = {0, 0, 1};
    rendezvous.addresses = {address, address, address};
    rendezvous.secret = secret;
    server_ = std::make_unique<HorovodStore>(rendezvous, port.take());
  }

  Peer connection() const { return connect_to("127.0.0.1", number_, end_.get(), 5); }
  /// Sends `text`, and returns the complete answer.
  std::string say(const std::string& text) const {
    const auto peer = connection();
    peer.write(text, 5);
    std::string heard;
    std::array<char, 4096> bytes{};
    while (const auto count = peer.read_some(bytes, 10)) heard.append(bytes.data(), count);
    return heard;
  }
  std::string request(const std::string& method, const std::string& path, const std::string& body = "") const {
    return say(fmt::format("{} /{}:{}{} HTTP/1.1\r\nHost: n1\r\nContent-Length: {}\r\n\r\n{}", method, secret, number_,
                           path, body.size(), body));
  }
  /// Returns the value of a key, or "404".
  std::string get(const std::string& path) const {
    const auto answer = request("GET", path);
    if (answer.starts_with("HTTP/1.1 404")) return "404";
    CHECK_THAT(answer, Catch::Matchers::StartsWith("HTTP/1.1 200"));
    return answer.substr(answer.find("\r\n\r\n") + 4);
  }

 private:
  int number_ = 0;
  EndSignal end_;
  std::unique_ptr<HorovodStore> server_;
};

bool is_ok(const std::string& answer) { return answer.starts_with("HTTP/1.1 200 "); }

}  // namespace

TEST_CASE("a key has the stored value, byte for byte, and a missing key is 404") {
  const ServedStore store;
  const std::string bytes("a\0b\r\n\r\n\xff", 8);
  CHECK_THAT(store.request("GET", "/global/0"), Catch::Matchers::StartsWith("HTTP/1.1 404 Not Found\r\n"));
  CHECK(is_ok(store.request("PUT", "/global/0", bytes)));
  CHECK(store.get("/global/0") == bytes);
  CHECK(store.get("/other/0") == "404");
  CHECK(is_ok(store.request("PUT", "/global/0", "new")));
  CHECK(store.get("/global/0") == "new");
}

TEST_CASE("a scope with known ranks is cleared when the last rank has found the others, and may be used again") {
  const ServedStore store;
  for (const auto* scope : {"/global/", "/local_node0/", "/local_node1/", "/cross_0/", "/cross_1/"}) {
    INFO(scope);
    const int ranks = std::string(scope) == "/global/"                                           ? 3
                      : std::string(scope).ends_with("e0/") || std::string(scope) == "/cross_0/" ? 2
                                                                                                 : 1;
    for (int turn = 0; turn < 2; ++turn) {
      for (int rank = 0; rank < ranks; ++rank) CHECK(is_ok(store.request("PUT", scope + std::to_string(rank), "x")));
      for (int rank = 0; rank < ranks; ++rank) {
        CHECK(store.get(scope + std::to_string(0)) == "x");
        CHECK(is_ok(store.request("DELETE", scope + std::to_string(rank))));
      }
      CHECK(store.get(scope + std::to_string(0)) == "404");
    }
  }
}

TEST_CASE("in another scope a key is deleted at once") {
  const ServedStore store;
  store.request("PUT", "/mine/a", "x");
  store.request("PUT", "/mine/b", "y");
  CHECK(is_ok(store.request("DELETE", "/mine/a")));
  CHECK(is_ok(store.request("DELETE", "/mine/a")));
  CHECK(is_ok(store.request("DELETE", "/nothing/a")));
  CHECK(store.get("/mine/a") == "404");
  CHECK(store.get("/mine/b") == "y");
}

TEST_CASE("an invalid request is refused, and the next one is answered") {
  const ServedStore store;
  for (const auto* path : {"", "/", "/a", "/a/b/c", "/a/../b"}) CHECK_THAT(store.request("GET", path), Contains(" 400 "));
  CHECK_THAT(store.request("POST", "/a/b", "x"), Contains(" 405 "));
  const auto prefix = fmt::format("/{}:1", ServedStore::secret);
  CHECK_THAT(store.say("GET " + prefix + "/a/b no HTTP at all\r\n\r\n"), Contains(" 400 "));
  CHECK_THAT(store.say("GET " + prefix + "/a/b HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n"),
             Contains(" 400 "));
  CHECK_THAT(store.say("PUT " + prefix + "/a/b HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\nx"), Contains(" 413 "));
  { const auto mute = store.connection(); }
  CHECK(is_ok(store.request("PUT", "/a/b", std::string(HorovodStore::max_value_bytes, 'x'))));
  CHECK(store.get("/a/b").size() == HorovodStore::max_value_bytes);
}

TEST_CASE("a request that arrives in pieces is answered") {
  const ServedStore store;
  const auto peer = store.connection();
  for (const std::string piece : {"PU", "T /0123456789abcdef", "0123456789abcdef", ":4711/a", "/b HT",
                                  "TP/1.1\r\nContent-Le", "ngth: 3\r\n", "\r\nx", "yz"}) {
    peer.write(piece, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::array<char, 12> answer{};
  CHECK(peer.read(answer, 5));
  CHECK(store.get("/a/b") == "xyz");
}
