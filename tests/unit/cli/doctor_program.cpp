// Tests of the checks that `trainrt doctor -- COMMAND` makes of a program. The ranks are threads on made-up nodes.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "cli/doctor/doctor_check.hpp"
#include "cli/doctor/python_report.hpp"
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

/// Runs a check, with `subject` only on rank 0, and returns the finding of rank 0.
Finding check_command(std::string_view name, const std::vector<int>& node_of_rank, const Subject& subject,
                      const Environment& environment = Environment()) {
  const auto checks = checks_in_order(true);
  const auto& check = find_plugin(PluginTable<Check>(checks), name, "check");
  std::optional<Finding> result;
  test::run_launched(static_cast<int>(node_of_rank.size()), [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    auto world = launch.world();
    world.node_of_rank = node_of_rank;
    derive_topology(world);
    const Subject mine = world.rank == 0 ? subject : Subject{.storage = "/elsewhere"};
    auto finding = run_check(check, {world, *communicator, environment, mine});
    if (world.rank == 0) result = std::move(finding);
  });
  return *result;
}

}  // namespace

TEST_CASE("gRPC's proxy is a warning unless no_proxy contains the end of the address, its network, or *") {
  struct Case {
    const char* no_proxy;
    bool excepted;
  };
  for (const auto& c :
       {Case{"", false}, Case{"127.0.0.1", true}, Case{"127.0.0.11", false}, Case{"localhost, .0.0.1", true},
        Case{",", false}, Case{"127.0.0.0/8", true}, Case{"126.0.0.0/7", true}, Case{"126.0.0.0/8", false},
        Case{"0.0.0.0/0", true}, Case{"127.0.0.0/33", false}, Case{"127.0.0.0/", false}, Case{"127.0.0.0/8x", false},
        Case{"fd00::/8", false}, Case{"*", true}}) {
    CAPTURE(c.no_proxy);
    const Environment environment(Variables{{"http_proxy", "http://p:1"}, {"no_proxy", c.no_proxy}});
    const auto finding = check_command("proxy", {0}, {.command = {"sh"}}, environment);
    CHECK((finding.grade == Grade::ok) == c.excepted);
    if (!c.excepted) CHECK_THAT(finding.text, Contains("http_proxy = http://p:1 is used for 127.0.0.1"));
  }
}

TEST_CASE("the proxy is that of the first variable that gRPC reads, without its password") {
  const auto text_with = [](const Variables& variables) {
    return check_command("proxy", {0}, {.command = {"sh"}}, Environment(variables)).text;
  };
  CHECK(text_with({{"no_proxy", ""}}) == "no proxy is set");
  CHECK(text_with({{"http_proxy", ""}}) == "no proxy is set");
  CHECK(text_with({{"HTTP_PROXY", "http://p:1"}}) == "no proxy is set");
  CHECK_THAT(text_with({{"http_proxy", "http://me:secret@p:1"}}), Contains("http_proxy = http://p:1 "));
  CHECK_THAT(text_with({{"http_proxy", "me:secret@p:1"}}), Contains("http_proxy = p:1 "));
  CHECK_THAT(text_with({{"https_proxy", "p:2"}, {"http_proxy", "p:1"}}), Contains("https_proxy = p:2 "));
  const Variables own_list{{"grpc_proxy", "p:2"}, {"no_grpc_proxy", "n1"}, {"no_proxy", "127.0.0.0/8"}};
  CHECK_THAT(text_with(own_list), Contains("grpc_proxy = p:2 "));  // no_proxy is then ignored
}

TEST_CASE("limits that are too low are named with the option of ulimit and how far it may go") {
  constexpr Limit none{cli::unlimited, cli::unlimited};
  const ProcessLimits well{.open_files = {4096, 4096},
                           .processes = none,
                           .address_space = none,
                           .data = none,
                           .cpu_time = none,
                           .file_size = none};
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

TEST_CASE("the differences between the Pythons of two nodes are named") {
  const Json first = {{"version", "3.11.2"}, {"frameworks", {{"torch", "2.2.0"}, {"numpy", "1.26"}, {"jax", "0.4"}}}};
  const Json other = {{"version", "3.10.1"}, {"frameworks", {{"torch", "2.1.0"}, {"jax", "0.4"}, {"keras", "3.0"}}}};
  CHECK(python_differences(first, first).empty());
  CHECK(python_differences(first, other) == Words{"Python 3.10.1 instead of 3.11.2", "torch 2.1.0 instead of 2.2.0",
                                                  "numpy is missing", "keras 3.0 is only on this node"});
}

TEST_CASE("the report of a Python is its last line, and any other output is an error that quotes it") {
  const auto report = parse_python_report(
      "a site prints this\n\n{\"version\": \"3.9.1\", \"frameworks\": {\"torch\": \"2\"}, \"missing\": [], \"mistake\": "
      "\"\"}\n");
  CHECK(report.at("version") == "3.9.1");
  CHECK(report.at("frameworks").at("torch") == "2");
  for (const char* text : {"", "hello", "[]", "{\"version\": 3}"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_python_report(text), Contains("something other") && Contains(text));
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

TEST_CASE("a lock of a torch extension is stale after 10 minutes, at any depth that torch uses") {
  namespace fs = std::filesystem;
  const test::Scratch folder;
  const fs::path cache = folder / "torch_extensions";
  const fs::path old = cache / "py311_cpu/fused_adam/lock", fresh = cache / "utils/lock", other = cache / "utils/lock.txt";
  for (const auto& path : {old, fresh, other}) {
    fs::create_directories(path.parent_path());
    std::ofstream(path).put('\n');
    if (path != fresh) fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  const auto locks_with = [](const Variables& variables) {
    return check_command("stale_locks", {0}, {.command = {"sh"}}, Environment(variables)).figures.at("locks");
  };
  const Json found = {old.string()};
  CHECK(locks_with({{"HOME", "/absent"}, {"XDG_CACHE_HOME", folder.path()}}) == found);
  CHECK(locks_with({{"XDG_CACHE_HOME", "/absent"}, {"TORCH_EXTENSIONS_DIR", cache.string()}}) == found);
  CHECK(locks_with({{"HOME", folder.path()}}).empty());
}

TEST_CASE("all ranks check the subject of rank 0, byte for byte") {
  const Subject subject{.storage = "/s", .command = {"sh", "-c", "a \n b \xff", ""}, .interface = "lo", .is_staged = true};
  test::run_launched(3, [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    const Environment environment;
    const Subject mine = launch.world().rank == 0 ? subject : Subject{};
    const DoctorRanks ranks(launch.world(), *communicator, environment, mine);
    const auto& found = ranks.subject();
    if (found.command != subject.command || found.storage != "/s" || found.interface != "lo" || !found.is_staged)
      throw Error("rank " + std::to_string(launch.world().rank) + " has another subject");
  });
  CHECK(check_command("program", {0, 1}, {.command = {"sh"}}).grade == Grade::ok);
}

TEST_CASE("a launcher as the program is a warning, and a missing program is an error unless it is staged") {
  const auto launcher = check_command("program", {0, 1}, {.command = {"/usr/bin/python3", "-m", "torch.distributed.run"}});
  CHECK(launcher.grade == Grade::warning);
  CHECK_THAT(launcher.advice, Contains("leave out torch.distributed.run"));
  const Subject absent{.command = {"no-such-program"}};
  const auto error = check_command("program", {0, 1}, absent);
  CHECK(error.grade == Grade::error);
  CHECK_THAT(error.text, Contains("ranks 0, 1 on ") && Contains("executable 'no-such-program' not found"));
  CHECK(check_command("program", {0}, {.command = absent.command, .is_staged = true}).grade == Grade::ok);
}

TEST_CASE("the programs' address is one to which all nodes connected, and a missing interface is an error") {
  CHECK(check_command("program_address", {0, 0}, {.command = {"sh"}}).figures.at("address") == "127.0.0.1");
  const auto nodes = check_command("program_address", {0, 1, 0}, {.command = {"sh"}});
  CHECK(nodes.grade != Grade::error);
  if (nodes.grade == Grade::warning) CHECK_THAT(nodes.text, Contains("resolves to 127."));
  CHECK(nodes.figures.at("nodes").size() == 2);
  const auto none = check_command("program_address", {0, 1}, {.command = {"sh"}, .interface = "ib77"});
  CHECK(none.grade == Grade::error);
  CHECK_THAT(none.text, Contains("ib77"));
}
