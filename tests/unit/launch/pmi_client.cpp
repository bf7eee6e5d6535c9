// Tests of the exchange of texts between ranks over PMI-1, with two ranks as threads.
#include <array>
#include <barrier>
#include <map>
#include <mutex>
#include <thread>

#include <sys/socket.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "launch/pmi/pmi_client.hpp"
#include "launch/pmi/pmi_server.hpp"
#include "launch/pmi/pmi_socket.hpp"

using namespace trainrt::launch;

namespace {

constexpr double answer_limit_s = 20;

/// The PMI-1 servers of two ranks, each in a thread, as the starting process serves them.
class TwoServers {
 public:
  TwoServers() {
    for (int rank = 0; rank < 2; ++rank) {
      auto& pair = sockets_[static_cast<std::size_t>(rank)];
      if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) != 0) throw trainrt::Error("socketpair failed");
      threads_[static_cast<std::size_t>(rank)] =
          std::thread([this, rank, socket = pair[0]] { PmiServer(store(rank)).serve(socket); });
    }
  }
  ~TwoServers() {
    for (const auto& pair : sockets_) shutdown(pair[1], SHUT_RDWR);
    for (auto& thread : threads_) thread.join();
    for (const auto& pair : sockets_)
      for (const int end : pair) close(end);
  }

  PmiClient client(int rank) const { return {sockets_[static_cast<std::size_t>(rank)][1], rank, 2, answer_limit_s}; }
  int finalized() {
    const std::lock_guard lock(mutex_);
    return finalized_;
  }
  int aborted_with() {
    const std::lock_guard lock(mutex_);
    return aborted_with_;
  }

 private:
  PmiStore store(int rank) {
    return {.rank = rank,
            .size = 2,
            .space = "test",
            .put =
                [this, rank](const auto& key, const auto& value) {
                  const std::lock_guard lock(mutex_);
                  values_[{rank, key}] = value;
                },
            .fence = [this] { fence_.arrive_and_wait(); },
            .get =
                [this](int other, const auto& key) {
                  const std::lock_guard lock(mutex_);
                  return values_[{other, key}];
                },
            .finalize =
                [this] {
                  const std::lock_guard lock(mutex_);
                  ++finalized_;
                },
            .abort =
                [this](int code) {
                  const std::lock_guard lock(mutex_);
                  aborted_with_ = code;
                },
            .fail = [](const std::string&) {}};
  }

  std::mutex mutex_;
  std::map<std::pair<int, std::string>, std::string> values_;
  int finalized_ = 0;
  int aborted_with_ = -1;
  std::barrier<> fence_{2};
  std::array<std::array<int, 2>, 2> sockets_{};
  std::array<std::thread, 2> threads_;
};

}  // namespace

TEST_CASE("ranks gather texts with any bytes over PMI-1, again and again") {
  TwoServers servers;
  std::array<std::vector<std::string>, 2> first, second;
  const std::array<std::string, 2> texts = {std::string("a\0 b\n\xff=", 7), ""};
  const auto exchange = [&](std::size_t rank) {
    auto client = servers.client(static_cast<int>(rank));
    first[rank] = client.gather(texts[rank]);
    second[rank] = client.gather(std::to_string(rank));
    client.finalize();
  };
  std::thread other([&] { exchange(1); });
  exchange(0);
  other.join();
  for (const std::size_t rank : {0, 1}) {
    CHECK(first[rank] == std::vector<std::string>{texts[0], texts[1]});
    CHECK(second[rank] == std::vector<std::string>{"0", "1"});
  }
  CHECK(servers.finalized() == 2);
}

TEST_CASE("the abort of a rank reaches the process that started the ranks") {
  TwoServers servers;
  servers.client(0).abort(70);
  for (int i = 0; i < 1000 && servers.aborted_with() < 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(servers.aborted_with() == 70);
}

TEST_CASE("a gather whose server closes the connection is an error") {
  std::array<int, 2> pair{};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) == 0);
  close(pair[0]);
  PmiClient client(pair[1], 0, 2, answer_limit_s);
  CHECK_THROWS_WITH(client.gather("a"), Catch::Matchers::Contains("has closed its connection to this rank"));
  close(pair[1]);
}

TEST_CASE("a gather whose server does not answer ends after the timeout") {
  std::array<int, 2> pair{};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) == 0);
  PmiClient client(pair[1], 0, 2, 0.05);
  CHECK_THROWS_WITH(client.gather("a"), Catch::Matchers::Contains("did not answer within 0.05 s"));
  for (const int end : pair) close(end);
}

TEST_CASE("a rank notices that its launcher has closed the connection, also before it reads the last answer") {
  std::array<int, 2> ends{};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  CHECK_FALSE(has_hung_up(ends[0]));
  REQUIRE(write(ends[1], "cmd=barrier_out\n", 16) == 16);
  CHECK_FALSE(has_hung_up(ends[0]));
  close(ends[1]);
  CHECK(has_hung_up(ends[0]));
  close(ends[0]);
}
