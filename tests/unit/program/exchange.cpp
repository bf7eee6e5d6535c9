#include "program/services/exchange.hpp"

#include <chrono>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "program/rendezvous/nonce.hpp"
#include "program/rendezvous/reserved_port.hpp"
#include "support/cpp/error_of.hpp"

using namespace trainrt;
using namespace trainrt::program;
using Catch::Matchers::Contains;

namespace {

/// An ExchangeServer for ranks that are threads of this process.
class Exchanged {
 public:
  explicit Exchanged(int size, bool welcomes = true) {
    port_.listen();
    number_ = port_.number();
    server_ = std::make_unique<ExchangeServer>(port_.take(), size, secret_, [welcomes](const auto&) { return welcomes; });
  }
  ExchangeAddress place(int rank) const { return {"127.0.0.1", number_, secret_, rank, end.get()}; }

  EndSignal end;  ///< ends the waits of the ranks

 private:
  ReservedPort port_;
  int number_ = 0;
  std::string secret_ = random_nonce();
  std::unique_ptr<ExchangeServer> server_;
};

/// A thread that takes part in one round of the exchange as one rank, and stores the received texts or the error.
struct Coming {
  Coming(const ExchangeAddress& place, int round, std::string mine, double limit_s = 20)
      : thread([this, place, round, mine = std::move(mine), limit_s] {
          error = test::error_of([&] { texts = exchange(place, round, mine, limit_s); });
        }) {}
  ~Coming() {
    if (thread.joinable()) thread.join();
  }
  const std::vector<std::string>& result() {
    thread.join();
    return texts;
  }
  std::string why() {
    thread.join();
    return error;
  }

  std::vector<std::string> texts;
  std::string error;
  std::thread thread;
};

}  // namespace

TEST_CASE("each rank gets the texts of all ranks, round by round, in any order of arrival and of any length") {
  const Exchanged exchanged(3);
  const std::string long_text(3'000'000, 'x');
  for (int round = 0; round < 3; ++round) {
    Coming last(exchanged.place(2), round, "");
    Coming first(exchanged.place(0), round, "of 0\nin lines");
    Coming second(exchanged.place(1), round, long_text);
    const std::vector<std::string> expected = {"of 0\nin lines", long_text, ""};
    CHECK(first.result() == expected);
    CHECK(second.result() == expected);
    CHECK(last.result() == expected);
  }
}

TEST_CASE("rounds do not wait for a rank that has left, but use the texts that it had sent") {
  const Exchanged exchanged(2);
  Coming waits(exchanged.place(0), 0, "a");
  Coming comes(exchanged.place(1), 0, "b");
  CHECK(waits.result().size() == 2);
  CHECK(comes.result().size() == 2);
  Coming in_vain(exchanged.place(0), 1, "a");
  leave_exchange(exchanged.place(1));
  CHECK_THAT(in_vain.why(), Contains("the program of rank 1 has exited"));
  Coming later(exchanged.place(0), 2, "a");
  CHECK_THAT(later.why(), Contains("rank 1"));
}

TEST_CASE("foreign callers get no answer, and do not affect the ranks") {
  const Exchanged exchanged(1);
  auto stranger = exchanged.place(0);
  stranger.secret = random_nonce();
  Coming guesses(stranger, 0, "a");
  CHECK_THAT(guesses.why(), Contains("rank 0 has exited"));
  auto of_no_rank = exchanged.place(1);
  Coming beyond(of_no_rank, 0, "a");
  CHECK_FALSE(beyond.why().empty());
  {
    const auto mute = connect_to("127.0.0.1", exchanged.place(0).port, exchanged.end.get(), 5);
    mute.write("GET / HTTP/1.1\r\n\r\n", 1);
  }
  Coming friendly(exchanged.place(0), 0, "a");
  CHECK(friendly.result() == std::vector<std::string>{"a"});
  const Exchanged closed(1, false);
  Coming unwelcome(closed.place(0), 0, "a");
  CHECK_FALSE(unwelcome.why().empty());
}

TEST_CASE("a wait ends with its limit, its end signal, or the server") {
  const auto start = std::chrono::steady_clock::now();
  auto exchanged = std::make_unique<Exchanged>(2);
  Coming limited(exchanged->place(0), 0, "a", 0.2);
  CHECK_THAT(limited.why(), Contains("not all ranks have joined within 0.2 s"));
  Coming left(exchanged->place(0), 1, "a");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  exchanged->end.raise();
  CHECK_FALSE(left.why().empty());
  auto another = std::make_unique<Exchanged>(2);
  const EndSignal never;
  auto place = another->place(0);
  place.end = never.get();
  Coming served(place, 0, "a");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  another.reset();
  CHECK_FALSE(served.why().empty());
  leave_exchange(place);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}
