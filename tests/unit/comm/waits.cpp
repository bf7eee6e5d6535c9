// Tests of the errors that a rank gets if other ranks do not join a collective, make different calls, or have exited.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <chrono>
#include <mutex>
#include <trainrt/error.hpp>

#include "comm/comm_error.hpp"
#include "comm/node/board.hpp"
#include "comm/queued_communicator.hpp"
#include "core/mistake.hpp"
#include "support/cpp/ranks.hpp"

using namespace trainrt;
using Catch::Contains;

namespace {

/// Runs ranks as threads. Returns the message of the error that each rank threw, or "".
std::vector<std::string> errors_of(int size, double timeout_seconds, const std::function<void(Communicator&)>& rank_main,
                                   bool check = false) {
  const auto group = std::make_shared<comm::ThreadGroup>(size, timeout_seconds);
  std::vector<std::string> errors(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      comm::ThreadLaunch launch(group, rank);
      try {
        rank_main(*comm::open_communicator(launch, {.check = check}));
      } catch (const Error& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  for (auto& thread : threads) thread.join();
  return errors;
}

}  // namespace

TEST_CASE("a timeout names the operation, the tensor, the missing ranks and their last step") {
  const auto errors = errors_of(3, 0.2, [](Communicator& c) {
    c.at_step(c.rank() == 1 ? 7 : 9);
    if (c.rank() == 1) return;
    std::vector<float> values(4);
    c.all_reduce(values, Op::sum, "bucket 2");
  });
  CHECK_THAT(errors[0], Contains("all_reduce of 'bucket 2' on rank 0") && Contains("at step 9") &&
                            Contains("waited 0.2 s") && Contains("rank 1 (last seen at step 7)") && !Contains("rank 2"));
  CHECK_THAT(errors[2], Contains("on rank 2") && Contains("rank 1 (last seen at step 7)"));
  CHECK(errors[1].empty());
}

TEST_CASE("a maximum that a rank does not join times out") {
  const auto errors = errors_of(2, 0.2, [](Communicator& c) {
    if (c.rank() == 1) return;
    c.start_maximum({});
    c.finish_maximum("stop vote");
  });
  CHECK_THAT(errors[0], Contains("stop vote") && Contains("rank 1"));
}

TEST_CASE("after a timeout every later call fails at once with the reason") {
  const auto start = std::chrono::steady_clock::now();
  const auto errors = errors_of(2, 0.2, [](Communicator& c) {
    if (c.rank() == 1) return;
    CHECK_THROWS_AS(c.barrier(), Error);
    c.barrier();
  });
  CHECK_THAT(errors[0], Contains("can no longer be used") && Contains("rank 1"));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
}

TEST_CASE("calls after different calls are the same kind of mistake") {
  const auto errors = errors_of(2, 5, [](Communicator& c) {
    std::vector<float> values(c.rank() == 0 ? 1000 : 1001);
    try {
      c.all_reduce(values, Op::sum, "gradient");
    } catch (const MistakeError&) {
    }
    try {
      c.barrier();
    } catch (const MistakeError& error) {
      throw Error(error.mistake.kind);
    }
  });
  for (const auto& error : errors) CHECK(error == std::string(mistake_kind::calls_differ));
}

TEST_CASE("different sizes, types or operations are an error that names the ranks and their calls") {
  const auto errors = errors_of(2, 5, [](Communicator& c) {
    std::vector<float> values(c.rank() == 0 ? 1000 : 1001);
    c.all_reduce(values, Op::sum, "gradient");
  });
  for (const auto& error : errors)
    CHECK_THAT(error,
               Contains("'gradient'") && Contains("all_reduce of 1000 f32 (sum)") && Contains("all_reduce of 1001 f32"));
}

TEST_CASE("with CommOptions::check, different kinds, roots and names are found before the exchange") {
  const auto other_root = errors_of(
      2, 5, [](Communicator& c) { c.broadcast_text("x", c.rank()); }, true);
  for (const auto& error : other_root)
    CHECK_THAT(error, Contains("broadcast of 1024 u8 from rank 0") && Contains("from rank 1"));
  const auto other_kind = errors_of(
      3, 5,
      [](Communicator& c) {
        std::vector<float> values(3);
        c.at_step(4);
        if (c.rank() == 2) return c.barrier("end");
        c.all_reduce(values, Op::max, "scores");
      },
      true);
  for (const auto& error : other_kind)
    CHECK_THAT(error, Contains("at step 4") && Contains("rank 0 called all_reduce of 3 f32 (max) 'scores'") &&
                          Contains("rank 2 called barrier 'end'"));
  const auto other_name = errors_of(
      2, 5,
      [](Communicator& c) {
        std::vector<float> values(3);
        c.all_reduce(values, Op::sum, c.rank() == 0 ? "weight" : "bias");
      },
      true);
  for (const auto& error : other_name) CHECK_THAT(error, Contains("'weight'") && Contains("'bias'"));
}

TEST_CASE("an exited rank is reported before the timeout") {
  void* const memory = mmap(nullptr, comm::Board::bytes_for(2), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  const pid_t child = fork();
  if (child == 0) {
    comm::Board board(static_cast<std::byte*>(memory), 1, {4, 6});
    board.note_step(12);
    board.reach(comm::Board::announced, 1);
    _exit(0);
  }
  comm::Board board(static_cast<std::byte*>(memory), 0, {4, 6});
  comm::CounterWait first(board, comm::Board::announced, 1, 1), second(board, comm::Board::announced, 2, 1);
  for (int tries = 0; tries < 500 && !first.ready(); ++tries) first.sleep(0.01);  // sleeps on the child's futex
  CHECK(first.ready());
  REQUIRE(waitpid(child, nullptr, 0) == child);
  CHECK_FALSE(second.ready());
  CHECK_THAT(second.failure(), Contains("rank 6 (last seen at step 12) has exited"));
  munmap(memory, comm::Board::bytes_for(2));
}

namespace {

/// A wait for a rank that exits. If `comes` is true, the rank has joined the collective just before.
class LastMoment : public comm::Awaited {
 public:
  bool ready() override { return came_; }
  void sleep(double) override {}
  std::string failure() override {
    came_ = comes_;
    return "rank 1 has exited";
  }
  std::string missing() override { return "rank 1"; }
  explicit LastMoment(bool comes) : comes_(comes) {}

 private:
  bool comes_;
  bool came_ = false;
};

class WaitsFor : public comm::QueuedCommunicator {
 public:
  explicit WaitsFor(comm::Awaited& awaited) : QueuedCommunicator(0, 2, 5), awaited_(awaited) {}
  ~WaitsFor() override { drop_pending(); }
  std::string_view name() const override { return "test"; }
  void start_maximum(const Maximum&) override {}
  Maximum finish_maximum(std::string_view) override { return {}; }
  std::unique_ptr<Communicator> split(int, int) override { return nullptr; }

 protected:
  comm::CollectiveTask make_task(Collective) override { co_await awaited_; }

 private:
  comm::Awaited& awaited_;
};

}  // namespace

TEST_CASE("a rank that joined before it exited is not reported as missing") {
  LastMoment comes(true), never(false);
  CHECK_NOTHROW(WaitsFor(comes).barrier());
  CHECK_THROWS_WITH(WaitsFor(never).barrier("end"),
                    Contains("barrier of 'end' on rank 0") && Contains("rank 1 has exited"));
  CHECK_THROWS_AS(WaitsFor(never).barrier("end"), trainrt::comm::RankGone);
}

TEST_CASE("invalid arguments are refused before any rank waits, and the communicator stays usable") {
  std::vector<std::string> said(6);
  const auto errors = errors_of(2, 5, [&](Communicator& c) {
    std::vector<float> values(4);
    const std::vector<std::size_t> wrong = {1, 2};
    const auto refusal = [&](std::size_t number, const std::function<void()>& call) {
      try {
        call();
      } catch (const UsageError& error) {
        said[2 * number + static_cast<std::size_t>(c.rank())] = error.what();
      }
    };
    refusal(0, [&] { c.all_gather(values.data(), wrong, Buffer{values.data(), 4, DType::f32}, "parts"); });
    refusal(1, [&] { c.broadcast(Buffer{values.data(), 4, DType::f32}, 2); });
    refusal(2, [&] { c.all_reduce(Buffer{values.data(), 4, DType::f32, Device::cuda}, Op::sum); });
    c.barrier();  // the communicator still works
  });
  CHECK(errors == std::vector<std::string>{"", ""});
  for (const std::size_t rank : {0UL, 1UL}) {
    CHECK_THAT(said[rank], Contains("'parts'") && Contains("3 elements in total, but the buffer has 4"));
    CHECK_THAT(said[2 + rank], Contains("rank 2 is not a valid root; there are 2 ranks"));
    CHECK_THAT(said[4 + rank], Contains("cannot reach memory on cuda"));
  }
}
