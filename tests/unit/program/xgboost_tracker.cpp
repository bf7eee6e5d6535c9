#include "program/services/xgboost_tracker.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "program/rendezvous/reserved_port.hpp"

using namespace trainrt::program;

namespace {

class Tracked {
 public:
  static constexpr const char* secret = "0123456789abcdef0123456789abcdef";

  explicit Tracked(int size) {
    ReservedPort port;
    port.listen();
    number_ = port.number();
    Rendezvous meeting;
    meeting.size = size;
    meeting.addresses.assign(static_cast<std::size_t>(size), "127.0.0.1");
    meeting.printed_secret = secret;
    tracker_ = std::make_unique<XgboostTracker>(meeting, port.take());
  }
  Peer connection() const { return connect_to("127.0.0.1", number_, end_.get(), 5); }

 private:
  int number_ = 0;
  EndSignal end_;
  std::unique_ptr<XgboostTracker> tracker_;
};

/// A worker's end of a connection to the tracker.
class TrackedWorker {
 public:
  explicit TrackedWorker(const Tracked& tracked) : peer_(tracked.connection()) { send(0xff99); }

  void send(std::int32_t number) const {
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    peer_.write(bytes, 5);
  }
  void send(const std::string& text) const {
    send(static_cast<std::int32_t>(text.size()));
    peer_.write(text, 5);
  }
  /// Returns the next number that the tracker sends, or -99 if it has closed the connection.
  std::int32_t number() const {
    std::array<char, 4> bytes{};
    std::int32_t number = -99;
    if (peer_.read(bytes, 10)) std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }
  std::string text() const {
    std::string text(static_cast<std::size_t>(std::max(0, number())), '\0');
    peer_.read(text, 10);
    return text;
  }
  bool is_disconnected() const { return number() == -99; }
  void start_rabit(const std::string& task) const {
    CHECK(number() == 0xff99);
    send(-1);
    send(-1);
    send(task + "-" + Tracked::secret);
    send(std::string("start"));
  }
  void start_json(const std::string& task, int port) const {
    CHECK(number() == 0xff99);
    send(nlohmann::json{{"world_size", -1}, {"rank", -1}, {"task_id", task + "-" + Tracked::secret}}.dump());
    send(nlohmann::json{{"cmd", 1}, {"port", port}, {"error_port", 1}}.dump());
  }

 private:
  Peer peer_;
};

enum class RabitAge { before_2, of_2 };

/// Receives the answer to start_rabit(); returns the workers to connect to: "host:port:rank".
std::vector<std::string> rabit_neighbours(const TrackedWorker& worker, int rank, int size, int port, RabitAge age) {
  CHECK(worker.number() == rank);
  CHECK(worker.number() == (rank + 1) / 2 - 1);
  CHECK(worker.number() == size);
  std::set<int> others;
  for (int left = worker.number(); left > 0; --left) others.insert(worker.number());
  const int previous = worker.number();
  const int next = worker.number();
  CHECK(previous == (rank + size - 1) % size);
  CHECK(next == (rank + 1) % size);
  others.insert({previous, next});
  if (age == RabitAge::before_2) worker.send(0);
  const int to_connect = worker.number();
  CHECK(to_connect + worker.number() == static_cast<int>(others.size()));
  std::vector<std::string> found;
  for (int at = 0; at < to_connect; ++at) {
    const auto host = worker.text();
    const int other_port = worker.number();
    found.push_back(host + ":" + std::to_string(other_port) + ":" + std::to_string(worker.number()));
  }
  worker.send(0);
  worker.send(port);
  return found;
}

}  // namespace

TEST_CASE("the links of rabit are mutual, and form a tree and a ring of all ranks") {
  for (const int size : {1, 2, 3, 4, 9, 64}) {
    for (int rank = 0; rank < size; ++rank) {
      const auto mine = rabit_links(rank, size).all();
      for (const int other : mine) {
        const auto theirs = rabit_links(other, size).all();
        CHECK(std::ranges::find(theirs, rank) != theirs.end());
        CHECK(other != rank);
      }
    }
    CHECK(rabit_links(0, size).parent == -1);
  }
  CHECK(rabit_links(0, 1).all().empty());
  CHECK(rabit_links(1, 9).tree == std::vector<int>{0, 3, 4});
}

TEST_CASE("workers of XGBoost 1.x and 2.0 get their task's rank, and connect to neighbours of lower rank") {
  for (const auto age : {RabitAge::before_2, RabitAge::of_2}) {
    const Tracked tracked(3);
    for (int turn = 0; turn < 2; ++turn) {
      const TrackedWorker third(tracked);
      third.start_rabit("2");
      const TrackedWorker first(tracked);
      first.start_rabit("0");
      const TrackedWorker second(tracked);
      second.start_rabit("1");
      CHECK(rabit_neighbours(first, 0, 3, 5000, age).empty());
      CHECK(rabit_neighbours(second, 1, 3, 5001, age) == std::vector<std::string>{"127.0.0.1:5000:0"});
      CHECK(rabit_neighbours(third, 2, 3, 5002, age) == std::vector<std::string>{"127.0.0.1:5000:0", "127.0.0.1:5001:1"});
      const TrackedWorker bye(tracked);
      CHECK(bye.number() == 0xff99);
      bye.send(0);
      bye.send(3);
      bye.send(std::string("0-") + Tracked::secret);
      bye.send(std::string("shutdown"));
    }
  }
}

TEST_CASE("workers of XGBoost 2.1 and later get the address of the next worker in the ring") {
  const Tracked tracked(3);
  for (int turn = 0; turn < 2; ++turn) {
    const TrackedWorker third(tracked);
    third.start_json("2", 6002);
    const TrackedWorker first(tracked);
    first.start_json("0", 6000);
    const TrackedWorker second(tracked);
    second.start_json("1", 6001);
    const auto check = [](const TrackedWorker& worker, int next) {
      CHECK(nlohmann::json::parse(worker.text()) == nlohmann::json{{"world_size", 3}});
      CHECK(nlohmann::json::parse(worker.text()) ==
            nlohmann::json{{"rank", next}, {"host", "127.0.0.1"}, {"port", 6000 + next}});
    };
    check(third, 0);
    check(first, 1);
    check(second, 2);
    const TrackedWorker bye(tracked);
    CHECK(bye.number() == 0xff99);
    bye.send(nlohmann::json{{"world_size", 3}, {"rank", 0}, {"task_id", std::string("0-") + Tracked::secret}}.dump());
    bye.send(nlohmann::json{{"cmd", 2}}.dump());
  }
}

TEST_CASE("a client that is not a worker is disconnected, and workers are still served") {
  const Tracked tracked(1);
  const auto stranger = tracked.connection();
  stranger.write("GET / HTTP/1.1\r\n\r\n", 1);
  const TrackedWorker huge(tracked);
  CHECK(huge.number() == 0xff99);
  huge.send(-1);
  huge.send(-1);
  huge.send(2'000'000'000);
  CHECK(huge.is_disconnected());
  const TrackedWorker deep(tracked);
  CHECK(deep.number() == 0xff99);
  deep.send(R"({"a":)" + std::string(5000, '['));
  CHECK(deep.is_disconnected());
  const TrackedWorker without_task(tracked);
  CHECK(without_task.number() == 0xff99);
  without_task.send(std::string(R"({"world_size": -1, "rank": -1})"));
  CHECK(without_task.is_disconnected());
  for (const auto* task : {"1", "-1", "x", ""}) {
    const TrackedWorker of_another_rank(tracked);
    of_another_rank.start_json(task, 6000);
    CHECK(of_another_rank.is_disconnected());
  }
  const TrackedWorker friendly(tracked);
  friendly.start_json("0", 6000);
  CHECK(nlohmann::json::parse(friendly.text()) == nlohmann::json{{"world_size", 1}});
  CHECK(nlohmann::json::parse(friendly.text()) == nlohmann::json{{"rank", 0}, {"host", "127.0.0.1"}, {"port", 6000}});
}
