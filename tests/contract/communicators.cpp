// Checks that the backends that run in one process keep the contract of Communicator: "self", and "thread" for 1 to 8
// ranks. tests/multirank runs the same checks over MPI.
#include <catch2/catch.hpp>

#include "comm/gpu_backend.hpp"
#include "comm/timed_communicator.hpp"
#include "support/cpp/communicator_contract.hpp"
#include "support/cpp/ranks.hpp"

using namespace trainrt;

TEST_CASE("self and thread keep the contract of a communicator on 1 to 8 ranks") {
  for (int size = 1; size <= 8; ++size) {
    CAPTURE(size);
    std::string findings;
    std::mutex mutex;
    test::run_ranks(size, [&](Communicator& communicator) {
      const auto found = test::communicator_findings(communicator);
      const std::lock_guard lock(mutex);
      findings += found;
    });
    CHECK(findings.empty());
    if (!findings.empty()) WARN(findings);
  }
}

TEST_CASE("TimedCommunicator keeps the contract and also measures the calls of its parts") {
  std::mutex mutex;
  std::string findings;
  double in_calls_s = 0, in_parts_s = 0;
  test::run_ranks(3, [&](Communicator& inner) {
    comm::TimedCommunicator communicator(inner);
    const auto found = test::communicator_findings(communicator);
    const auto before_s = communicator.times().seconds;
    const auto part = communicator.split(0, communicator.rank());
    if (part->rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    communicator.begin_step();
    part->barrier();
    const std::lock_guard lock(mutex);
    findings += found;
    if (communicator.times().first_call_s < 0) findings += "no first call; ";
    in_calls_s = std::max(in_calls_s, before_s);
    in_parts_s = std::max(in_parts_s, communicator.times().seconds - before_s);
  });
  CHECK(findings == "");
  CHECK(in_calls_s > 0);
  CHECK(in_parts_s > 0.015);
}

TEST_CASE("every backend for one rank keeps the contract and is opened by its name") {
  const auto launch = launch::discover(Environment(), {});
  int served = 0;
  for (const auto* backend : comm::backend_table()) {
    INFO(backend->name);
    if (!backend->why_unavailable(*launch).empty()) continue;
    const auto communicator = comm::open_communicator(*launch, {.backend = std::string(backend->name)});
    CHECK(communicator->name() == backend->name);
    CHECK(test::communicator_findings(*communicator) == "");
    ++served;
  }
  CHECK(served > 0);
}

TEST_CASE("find_backends() finds names in both tables and lists the valid names for others") {
  for (const auto* backend : comm::backend_table()) CHECK(comm::find_backends(std::string(backend->name)).host == backend);
  for (const auto* backend : comm::gpu_backend_table()) {
    const auto asked = comm::find_backends(std::string(backend->name));
    CHECK(asked.gpu == backend);
    CHECK(asked.host == nullptr);  // a name selects one backend only
    CHECK_THROWS_WITH(comm::find_backends(std::string(backend->name) + "x"),
                      Catch::Matchers::Contains("did you mean '" + std::string(backend->name) + "'"));
  }
  CHECK(comm::find_backends("auto").host == nullptr);
}

TEST_CASE("a single rank gets the backend self") {
  const auto launch = launch::discover(Environment(), {});
  const auto communicator = comm::open_communicator(*launch, {});
  CHECK(communicator->name() == "self");
  CHECK(test::communicator_findings(*communicator).empty());
}

TEST_CASE("a rank that does not join is named at the timeout") {
  const auto late_rank = [](Communicator& communicator) {
    if (communicator.rank() != 1) communicator.barrier();
  };
  const auto group = std::make_shared<comm::ThreadGroup>(3, 0.2);
  std::string error;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      comm::ThreadLaunch launch(group, rank);
      try {
        late_rank(*comm::open_communicator(launch, {}));
      } catch (const Error& e) {
        const std::lock_guard lock(mutex);
        error = e.what();
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK_THAT(error, Catch::Matchers::Contains("barrier") && Catch::Matchers::Contains("rank 1"));
}

TEST_CASE("a failing rank ends the waits of the others") {
  const auto start = std::chrono::steady_clock::now();
  CHECK_THROWS(test::run_ranks(3, [](Communicator& communicator) {
    if (communicator.rank() == 2) throw Error("no more");
    communicator.barrier();
  }));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}
