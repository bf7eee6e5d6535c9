#include "program/services/address_survey.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>

#include <sys/socket.h>
#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "program/environments/launch_services.hpp"
#include "program/rendezvous/bound_sockets.hpp"
#include "program/rendezvous/interfaces.hpp"
#include "program/services/identity_listener.hpp"
#include "program/services/reachability.hpp"
#include "support/cpp/error_of.hpp"
#include "support/cpp/ranks.hpp"

using namespace trainrt;
using namespace trainrt::program;
using Catch::Matchers::Contains;

namespace {

constexpr ConnectLimits short_limits{1, 0.2};

/// Returns the result of find_addresses() on every rank.
std::vector<NodeAddresses> found_by(const std::vector<int>& node_of_rank, const std::string& interface = "") {
  std::vector<NodeAddresses> found(node_of_rank.size());
  test::run_ranks(static_cast<int>(node_of_rank.size()), [&](Communicator& communicator) {
    found[static_cast<std::size_t>(communicator.rank())] = find_addresses(communicator, node_of_rank, interface);
  });
  return found;
}

}  // namespace

TEST_CASE("the first address that all nodes reach is chosen") {
  const std::vector<AddressSurvey> surveys = {{"n2", {"", "10.1.0.2", "10.2.0.2"}}, {"n3", {"10.0.0.3", "", "10.2.0.3"}}};
  CHECK(first_reached_by_all(3, surveys) == std::size_t{2});
  CHECK(first_reached_by_all(2, surveys) == std::nullopt);
  CHECK(first_reached_by_all(2, {}) == std::size_t{0});
}

TEST_CASE("nodes are listed with the addresses that they do not reach") {
  const std::vector<std::string> addresses = {"10.0.0.1", "10.1.0.1"};
  const std::vector<AddressSurvey> surveys = {{"n2", {"", ""}}, {"n3", {"10.0.0.3", ""}}, {"n4", {"a", "b"}}};
  CHECK(unreached_by(addresses, surveys) == "n2 does not reach 10.0.0.1, 10.1.0.1; n3 does not reach 10.1.0.1");
}

TEST_CASE("only a listener that returns the right half of the nonce counts as reached, for each address") {
  const IdentityListener listener;
  const std::vector<std::string> addresses = {"127.0.0.1", "192.0.2.254", "no address", "::1"};
  const auto from = probe_addresses(addresses, listener.port(), listener.nonce(), short_limits);
  CHECK(from.at(0) == "127.0.0.1");
  CHECK(from.at(1).empty());
  CHECK(from.at(2).empty());
  CHECK(probe_addresses(addresses, listener.port(), std::string(32, 'x'), short_limits) == std::vector<std::string>(4));
}

TEST_CASE("a listener that has stopped is not reached, and is not waited for") {
  int port = 0;
  std::string nonce;
  {
    const IdentityListener listener;
    port = listener.port();
    nonce = listener.nonce();
  }
  const auto start = std::chrono::steady_clock::now();
  CHECK(probe_addresses(std::vector<std::string>{"127.0.0.1"}, port, nonce, {20, 20}).front().empty());
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}

TEST_CASE("a listener without an answer is waited for until the limit") {
  const auto mute = socket_on_all_addresses();
  REQUIRE(listen(mute.get(), 10) == 0);
  const auto start = std::chrono::steady_clock::now();
  CHECK(probe_addresses(std::vector<std::string>{"127.0.0.1"}, port_of(mute), "word", short_limits).front().empty());
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("the ranks of one node use the loopback address") {
  for (const auto& found : found_by({0, 0, 0})) {
    CHECK(found.of_nodes == std::vector<std::string>{"127.0.0.1"});
    CHECK(found.interface == "lo");
  }
}

TEST_CASE("several nodes use an address other than the loopback if there is one, and know its interface") {
  const auto here = addresses_of_this_node();
  const auto all = found_by({0, 0, 1, 2});
  for (const auto& found : all) {
    CHECK(found.of_nodes.size() == 3);
    CHECK(found.of_nodes == all.front().of_nodes);
    CHECK(found.interface == interface_with(found.of_nodes.front(), here));
    if (here.size() > 1) CHECK_FALSE(found.of_nodes.front().starts_with("127."));
  }
}

TEST_CASE("a named interface is used, on one node too") {
  CHECK(found_by({0, 1}, "lo").back().of_nodes.front() == "127.0.0.1");
  for (const auto& each : addresses_of_this_node())
    CHECK(interface_with(found_by({0, 0}, each.interface).back().of_nodes.front(), addresses_of_this_node()) ==
          each.interface);
}

TEST_CASE("an unknown interface is an error on all ranks that lists the existing ones") {
  std::mutex mutex;
  std::vector<std::string> errors;
  test::run_ranks(3, [&](Communicator& communicator) {
    const auto error = test::error_of([&] { find_addresses(communicator, std::vector<int>{0, 1, 1}, "ib7"); });
    const std::lock_guard lock(mutex);
    errors.push_back(error);
  });
  for (const auto& error : errors) CHECK_THAT(error, Contains("program.interface = ib7") && Contains("lo"));
}

TEST_CASE("the loopback address is last, and link-local addresses are omitted") {
  for (const auto& each : addresses_of_this_node()) {
    CHECK_FALSE(each.address.starts_with("fe80:"));
    if (each.is_loopback) CHECK(each.address == "127.0.0.1");
  }
}

TEST_CASE("each start has different ports, which all ranks know") {
  const auto frameworks = chosen_frameworks(std::vector<std::string>{"torch", "tensorflow", "deepspeed"});
  std::vector<Rendezvous> first(3);
  std::vector<Rendezvous> second(3);
  test::run_ranks(3, [&](Communicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    Rendezvous known;
    known.node_rank = rank < 2 ? 0 : 1;
    const LaunchServices one(communicator, known, frameworks, "");
    const LaunchServices another(communicator, known, frameworks, "");
    first[rank] = one.rendezvous();
    second[rank] = another.rendezvous();
    communicator.barrier();
  });
  std::vector<int> ports;
  for (const auto* starts : {&first, &second}) {
    for (const auto& rendezvous : *starts) {
      CHECK(rendezvous.ports == starts->front().ports);
      CHECK(rendezvous.addresses == starts->front().addresses);
      CHECK(rendezvous.node_count == 2);
      CHECK(rendezvous.size == 3);
    }
    const auto& of = starts->front().ports;
    CHECK(of.at("torch")[1] == 0);
    CHECK(of.at("deepspeed") == std::vector<int>{0, 0, 0});
    ports.push_back(of.at("torch")[0]);
    ports.insert(ports.end(), of.at("tensorflow").begin(), of.at("tensorflow").end());
  }
  std::ranges::sort(ports);
  CHECK(ports.size() == 8);
  CHECK(ports.front() > 0);
  CHECK(std::ranges::adjacent_find(ports) == ports.end());
  CHECK(first[0].cpus == first[1].cpus);
}
