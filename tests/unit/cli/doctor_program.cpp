// What `trainrt doctor -- COMMAND` judges: pure functions, and its checks on ranks that are threads on nodes that are made
// up.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "cli/doctor/doctor_check.hpp"
#include "cli/doctor/proxy_rules.hpp"
#include "cli/doctor/python_report.hpp"
#include "cli/doctor/shared_cpus.hpp"
#include "cli/doctor/stale_locks.hpp"
#include "cli/start/process_limits.hpp"
#include "support/cpp/ranks.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::cli;
using namespace trainrt::cli::doctor;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

/// What rank 0 finds with this subject; the other ranks have another one, which must not matter.
Finding judge_command(std::string_view name, const std::vector<int>& node_of_rank, const Subject& subject,
                      const Environment& environment = Environment()) {
  const auto& check = find_plugin(check_table(), name, "check");
  std::optional<Finding> result;
  test::run_launched(static_cast<int>(node_of_rank.size()), [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    auto world = launch.world();
    world.node_of_rank = node_of_rank;
    derive_topology(world);
    const Subject mine = world.rank == 0 ? subject : Subject{.storage = "/elsewhere"};
    const Examination examination(world, *communicator, environment, mine);
    auto finding = check.run(examination);
    if (world.rank == 0) result = std::move(finding);
  });
  return *result;
}

}  // namespace

TEST_CASE("no_proxy excepts by the end of a name, by a network, or all") {
  struct Case {
    const char* address;
    const char* no_proxy;
    bool excepted;
  };
  for (const auto& c :
       {Case{"10.0.0.1", "", false}, Case{"10.0.0.1", "10.0.0.1", true}, Case{"10.0.0.1", "10.0.0.11", false},
        Case{"10.0.0.1", "localhost, .0.0.1", true}, Case{"n1.site.org", "localhost,.SITE.org", true},
        Case{"n1.site.org", "site.com", false}, Case{"10.1.2.3", "10.0.0.0/8", true}, Case{"10.1.2.3", "10.0.0.0/15", true},
        Case{"10.2.2.3", "10.0.0.0/15", false}, Case{"10.1.2.3", "0.0.0.0/0", true}, Case{"fd00::1", "fd00::/8", true},
        Case{"fd00::1", "10.0.0.0/0", false}, Case{"10.1.2.3", "10.0.0.0/33", false}, Case{"10.1.2.3", "10.0.0.0/", false},
        Case{"10.1.2.3", "10.0.0.0/8x", false}, Case{"10.1.2.3", "*", true}, Case{"10.1.2.3", ",", false}}) {
    CAPTURE(c.address, c.no_proxy);
    CHECK(is_excepted(c.address, c.no_proxy) == c.excepted);
  }
}

TEST_CASE("a proxy is in the way of the addresses that gRPC does not except, and its password is not shown") {
  const Words nodes = {"10.0.0.1", "10.0.0.2", "10.0.0.1"};
  CHECK_FALSE(proxy_in_the_way(Environment(Variables{{"no_proxy", ""}}), nodes));
  CHECK_FALSE(proxy_in_the_way(Environment(Variables{{"http_proxy", ""}}), nodes));
  CHECK_FALSE(proxy_in_the_way(Environment(Variables{{"HTTP_PROXY", "http://p:1"}}), nodes));  // gRPC does not read it
  const auto all =
      proxy_in_the_way(Environment(Variables{{"http_proxy", "http://me:secret@p:1"}, {"no_proxy", "localhost"}}), nodes);
  REQUIRE(all);
  CHECK(all->variable == "http_proxy");
  CHECK(all->proxy == "http://p:1");
  CHECK(all->addresses == Words{"10.0.0.1", "10.0.0.2"});
  const auto one = proxy_in_the_way(
      Environment(Variables{{"https_proxy", "p:2"}, {"http_proxy", "p:1"}, {"no_proxy", "127.0.0.1,10.0.0.1"}}), nodes);
  REQUIRE(one);
  CHECK(one->variable == "https_proxy");
  CHECK(one->addresses == Words{"10.0.0.2"});
  CHECK_FALSE(proxy_in_the_way(Environment(Variables{{"grpc_proxy", "p:2"}, {"no_grpc_proxy", "10.0.0.0/24"}}), nodes));
  const Environment own_list(Variables{{"grpc_proxy", "p:2"}, {"no_grpc_proxy", "n1"}, {"no_proxy", "10.0.0.0/24"}});
  CHECK(proxy_in_the_way(own_list, nodes));  // no_proxy does not count then
}

TEST_CASE("limits that are too low are named with the option of ulimit and how far it may go") {
  constexpr Limit none{cli::unlimited, cli::unlimited};
  const ProcessLimits well{.open_files = {4096, 4096},
                           .processes = none,
                           .address_space = none,
                           .data = none,
                           .cpu_time = none,
                           .file_size = none,
                           .core_file = {0, cli::unlimited}};
  CHECK(limits_too_low(well).empty());
  auto low = well;
  low.open_files = {1024, 1048576};
  low.processes = {4095, 4095};
  low.address_space = {std::uint64_t{8} << 30, cli::unlimited};
  const auto found = limits_too_low(low);
  REQUIRE(found.size() == 3);
  CHECK_THAT(found[0], StartsWith("1024 open files") && Contains("ulimit -n 1048576 is allowed"));
  CHECK_THAT(found[1], Contains("(ulimit -u)"));
  CHECK_THAT(found[2], StartsWith("8388608 KiB of address space") && Contains("ulimit -v unlimited is allowed"));
}

TEST_CASE("ranks that may run on the same CPUs alone are a crowd if they are more than those") {
  CHECK(list_of_cpus("") == "");
  CHECK(list_of_cpus("1") == "0");
  CHECK(list_of_cpus("111100001") == "0-3,8");
  CHECK(crowds_among(std::vector<RankCpus>{{0, "11"}, {0, "11"}, {1, "1"}}).empty());
  CHECK(crowds_among(std::vector<RankCpus>{{0, "1"}, {0, "01"}}).empty());
  const auto crowds = crowds_among(std::vector<RankCpus>{{0, "1"}, {0, "1"}, {0, "0111"}, {1, "1"}});
  REQUIRE(crowds.size() == 1);
  CHECK(crowds[0].ranks == std::vector<int>{0, 1});
  CHECK(crowds[0].cpus == "0");
}

TEST_CASE("what another node's Python lacks, has besides or has in another version is named") {
  const PythonReport first{"3.11.2", {{"torch", "2.2.0"}, {"numpy", "1.26"}, {"jax", "0.4"}}, {}, ""};
  const PythonReport other{"3.10.1", {{"torch", "2.1.0"}, {"jax", "0.4"}, {"keras", "3.0"}}, {"torch"}, ""};
  CHECK(differences(first, first).empty());
  CHECK(differences(first, other) == Words{"Python 3.10.1 instead of 3.11.2", "numpy is missing",
                                           "torch 2.1.0 instead of 2.2.0", "keras 3.0 is here alone"});
}

TEST_CASE("a Python's report is its last line, and anything else is an error that shows it") {
  const auto report = python_report_from(
      "a site prints this\n\n{\"version\": \"3.9.1\", \"frameworks\": {\"torch\": \"2\"}, \"missing\": [], \"mistake\": "
      "\"\"}\n");
  CHECK(report.version == "3.9.1");
  CHECK(report.frameworks.at("torch") == "2");
  for (const char* text : {"", "hello", "[]", "{\"version\": 3}"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(python_report_from(text), Contains("something else"));
  }
}

TEST_CASE("the Python of a command is its program, or the one that the script's first line names") {
  const test::Scratch folder;
  const auto script = [&](const std::string& name, const std::string& line) {
    const auto path = folder / name;
    std::ofstream(path) << line << "\nimport sys\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  };
  const auto plain = python_command_of({"/usr/bin/python3", "-u", "train.py", "--lr"});
  REQUIRE(plain);
  CHECK(plain->interpreter == "/usr/bin/python3");
  CHECK(plain->script == "train.py");
  CHECK(python_command_of({"/usr/bin/python3", "-m", "train"})->script == "");
  for (const auto* line : {"#!/usr/bin/python3", "#! /usr/bin/python3 -u", "#!/usr/bin/env -S A=1 python3 -u"}) {
    CAPTURE(line);
    const auto path = script("train", line);
    const auto found = python_command_of({path});
    REQUIRE(found);
    CHECK_THAT(found->interpreter, Contains("/python3"));
    CHECK(found->script == path);
  }
  for (const auto* line : {"#!/bin/sh", "#!", "", "#!/no/such/python3", "#!/usr/bin/env", "python3"}) {
    CAPTURE(line);
    CHECK_FALSE(python_command_of({script("other", line)}));
  }
  CHECK_FALSE(python_command_of({}));
  CHECK_FALSE(python_command_of({"no-such-program"}));
}

TEST_CASE("a lock of torch's is stale from some age on, at any depth that torch makes") {
  namespace fs = std::filesystem;
  const test::Scratch folder;
  const fs::path old = folder / "py311_cpu/fused_adam/lock";
  const fs::path fresh = folder / "utils/lock";
  for (const auto& path : {old, fresh, fs::path(folder / "utils/lock.txt")}) {
    fs::create_directories(path.parent_path());
    std::ofstream(path).put('\n');
    if (path != fresh) fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  const auto locks = stale_locks_in(folder.path(), 600);
  REQUIRE(locks.size() == 1);
  CHECK(locks[0].path == old.string());
  CHECK(locks[0].age_s == Approx(3600).margin(60));
  CHECK(stale_locks_in(folder / "absent", 600).empty());
  CHECK(torch_extensions_folder(Environment(Variables{{"HOME", "/h"}})) == "/h/.cache/torch_extensions");
  CHECK(torch_extensions_folder(Environment(Variables{{"HOME", "/h"}, {"XDG_CACHE_HOME", "/c"}})) == "/c/torch_extensions");
  CHECK(torch_extensions_folder(Environment(Variables{{"HOME", "/h"}, {"TORCH_EXTENSIONS_DIR", "/t"}})) == "/t");
}

TEST_CASE("what rank 0 is to run is what all ranks examine, word for word") {
  const Subject subject{.storage = "/s", .command = {"sh", "-c", "a \n b", ""}, .interface = "lo", .is_staged = true};
  test::run_launched(3, [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    const Environment environment;
    const Subject mine = launch.world().rank == 0 ? subject : Subject{};
    const Examination examination(launch.world(), *communicator, environment, mine);
    if (examination.command() != subject.command || examination.storage() != "/s" || examination.interface() != "lo" ||
        !examination.is_staged())
      throw Error("rank " + std::to_string(launch.world().rank) + " examines something else");
  });
  CHECK(judge_command("program", {0, 1}, {.command = {"sh"}}).grade == Grade::ok);
}

TEST_CASE("a program that starts ranks itself is a warning, one that is not there an error unless it is staged") {
  const auto launcher = judge_command("program", {0, 1}, {.command = {"/usr/bin/python3", "-m", "torch.distributed.run"}});
  CHECK(launcher.grade == Grade::warning);
  CHECK_THAT(launcher.advice, Contains("leave torch.distributed.run"));
  const Subject absent{.command = {"no-such-program"}};
  const auto error = judge_command("program", {0, 1}, absent);
  CHECK(error.grade == Grade::error);
  CHECK_THAT(error.text, StartsWith("ranks 0, 1 on ") && Contains("no executable 'no-such-program'"));
  CHECK(judge_command("program", {0}, {.command = absent.command, .is_staged = true}).grade == Grade::ok);
}

TEST_CASE("the programs' address is one that the nodes have connected to, and an interface that is not there is an error") {
  CHECK(judge_command("program_address", {0, 0}, {.command = {"sh"}}).figures.at("address") == "127.0.0.1");
  const auto nodes = judge_command("program_address", {0, 1, 0}, {.command = {"sh"}});
  CHECK(nodes.grade != Grade::error);
  if (nodes.grade == Grade::warning) CHECK_THAT(nodes.text, Contains("resolves to 127."));
  CHECK(nodes.figures.at("nodes").size() == 2);
  const auto none = judge_command("program_address", {0, 1}, {.command = {"sh"}, .interface = "ib77"});
  CHECK(none.grade == Grade::error);
  CHECK_THAT(none.text, Contains("ib77"));
}

TEST_CASE("a proxy in the environment is a warning with the addresses, unless no_proxy excepts them") {
  const Subject subject{.command = {"sh"}};
  CHECK(judge_command("proxy", {0}, subject).grade == Grade::ok);
  const auto found = judge_command("proxy", {0}, subject, Environment(Variables{{"http_proxy", "http://p:1"}}));
  CHECK(found.grade == Grade::warning);
  CHECK_THAT(found.text, Contains("http_proxy = http://p:1") && Contains("127.0.0.1"));
  CHECK(
      judge_command("proxy", {0}, subject, Environment(Variables{{"http_proxy", "p"}, {"no_proxy", "127.0.0.1"}})).grade ==
      Grade::ok);
}
