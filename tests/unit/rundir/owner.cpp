#include <catch2/catch.hpp>

#include "rundir/records/owner.hpp"

using namespace trainrt;
using namespace trainrt::rundir;

namespace {

struct Row {
  const char* story;
  Owner other, me;
  unsigned long long process_start;  ///< of the other's pid, as this host sees it
  std::optional<bool> slurm;
  double heartbeat_age_s;
  bool alive;
};

Owner owner(const char* job, int restart, const char* host, const char* scope, int pid, unsigned long long start) {
  return {.job_id = job,
          .restart_count = restart,
          .step_id = "0",
          .host = host,
          .pid_scope = scope,
          .pid = pid,
          .pid_start_time = start};
}

const std::vector<Row> table = {
    {"same host, the process runs",
     owner("", 0, "a", "boot1", 10, 500),
     owner("", 0, "a", "boot1", 11, 900),
     500,
     {},
     5,
     true},
    {"same host, the process no longer exists",
     owner("", 0, "a", "boot1", 10, 500),
     owner("", 0, "a", "boot1", 11, 900),
     0,
     {},
     5,
     false},
    {"same host, the process id was reused",
     owner("", 0, "a", "boot1", 10, 500),
     owner("", 0, "a", "boot1", 11, 900),
     800,
     {},
     5,
     false},
    {"a requeue of the same job takes over, even with a fresh heartbeat", owner("7", 0, "a", "boot1", 10, 500),
     owner("7", 1, "b", "boot2", 11, 900), 500, true, 1, false},
    {"a requeue takes over on the same host, too", owner("7", 0, "a", "boot1", 10, 500),
     owner("7", 1, "a", "boot1", 11, 900), 500, true, 1, false},
    {"another job that runs in Slurm", owner("7", 0, "a", "boot1", 10, 500), owner("8", 0, "b", "boot2", 11, 900), 0, true,
     900, true},
    {"another job that Slurm does not know", owner("7", 0, "a", "boot1", 10, 500), owner("8", 0, "b", "boot2", 11, 900), 0,
     false, 5, false},
    {"another host, no Slurm, fresh heartbeat",
     owner("", 0, "a", "boot1", 10, 500),
     owner("", 0, "b", "boot2", 11, 900),
     0,
     {},
     29,
     true},
    {"another host, no Slurm, old heartbeat",
     owner("", 0, "a", "boot1", 10, 500),
     owner("", 0, "b", "boot2", 11, 900),
     0,
     {},
     31,
     false},
    {"the same host after a reboot",
     owner("", 0, "a", "boot1", 10, 500),
     owner("", 0, "a", "boot2", 11, 900),
     500,
     {},
     31,
     false},
    {"an attempt from before a requeue finds its successor alive, even if Slurm does not know it",
     owner("7", 1, "b", "boot2", 10, 500),
     owner("7", 0, "a", "boot1", 11, 900),
     0,
     {},
     300,
     true},
    {"another step of the same job on another node", owner("7", 0, "a", "boot1", 10, 500),
     owner("7", 0, "b", "boot2", 11, 900), 0, true, 3, true},
};

}  // namespace

TEST_CASE("a run is refused to other processes only while its owner is known to be alive") {
  for (const auto& row : table) {
    INFO(row.story);
    const OwnerFacts facts{.start_time_of = [&](int) { return row.process_start; },
                           .job_is_alive = [&](const std::string&) { return row.slurm; },
                           .heartbeat_age_s = [&] { return row.heartbeat_age_s; }};
    CHECK(is_alive(row.other, row.me, facts) == row.alive);
  }
}

TEST_CASE("an answer about a job is reused for some seconds") {
  int calls = 0;
  const auto ask = [&](const std::string& job) -> std::optional<bool> {
    ++calls;
    return job == "7" ? std::optional(true) : std::nullopt;
  };
  const auto check = reusing_answers(ask, 60);
  for (int i = 0; i < 3; ++i) CHECK((check("7") == true && check("8") == std::nullopt));
  CHECK(calls == 2);
  const auto fresh = reusing_answers(ask, -1);
  CHECK((fresh("7") == true && fresh("7") == true));
  CHECK(calls == 4);
}

TEST_CASE("the record of this process is recognized as alive") {
  const auto me = this_owner();
  CHECK(me.pid > 0);
  CHECK(me.pid_start_time > 0);
}
