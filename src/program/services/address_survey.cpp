#include "program/services/address_survey.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/text/text.hpp"
#include "program/rendezvous/interfaces.hpp"
#include "program/services/identity_listener.hpp"
#include "program/services/reachability.hpp"

namespace trainrt::program {

namespace {

using OfferJson = nlohmann::json;

/// The addresses of rank 0's node. Rank 0 broadcasts an Offer, and the other nodes try its addresses.
struct Offer {
  std::string host;
  std::vector<InterfaceAddress> addresses;
  int port = 0;
  std::string nonce;
  std::string error;  ///< error message if the addresses could not be determined; the address list is empty then
};

std::vector<InterfaceAddress> addresses_to_offer(const std::string& interface, const std::string& host) {
  const auto here = addresses_of_this_node();
  const auto chosen = [&](const InterfaceAddress& each) {
    return interface.empty() ? !each.is_loopback : each.interface == interface;
  };
  std::vector<InterfaceAddress> offered;
  std::ranges::copy_if(here, std::back_inserter(offered), chosen);
  if (!offered.empty() || interface.empty())
    return offered.empty() ? here : offered;  // if there is only a loopback address, the other nodes try it
  std::vector<std::string> names;
  for (const auto& each : here)
    if (std::ranges::find(names, each.interface) == names.end()) names.push_back(each.interface);
  throw UsageError(fmt::format("program.interface = {}: node {} has no such interface, or it is down; available: {}",
                               interface, host, join(names)));
}

/// Returns the Offer of this node, and creates `listener`, which answers the other nodes. If the addresses cannot be
/// determined, the Offer contains the error message.
Offer offer_of_this_node(const std::string& interface, std::unique_ptr<IdentityListener>& listener) try {
  auto offered = addresses_to_offer(interface, host_name());
  listener = std::make_unique<IdentityListener>();
  return {host_name(), std::move(offered), listener->port(), listener->nonce(), ""};
} catch (const Error& error) {
  return {host_name(), {}, 0, "", error.what()};
}

std::string text_of_offer(const Offer& offer) {
  OfferJson addresses = OfferJson::array();
  for (const auto& each : offer.addresses) addresses.push_back({each.interface, each.address});
  return OfferJson{
      {"host", offer.host}, {"addresses", addresses}, {"port", offer.port}, {"nonce", offer.nonce}, {"error", offer.error}}
      .dump();
}

Offer offer_from(const std::string& text) {
  const auto json = OfferJson::parse(text);
  Offer offer{json["host"], {}, json["port"], json["nonce"], json["error"]};
  for (const auto& each : json["addresses"]) offer.addresses.push_back({each[0], each[1]});
  return offer;
}

std::vector<std::string> texts_of(const Offer& offer) {
  std::vector<std::string> texts;
  for (const auto& each : offer.addresses) texts.push_back(each.address);
  return texts;
}

/// Returns the AddressSurvey of this rank's node as JSON, or "" if another rank of the node makes the survey.
std::string survey_text(const Offer& offer, bool answers, ConnectLimits limits) {
  if (!answers) return {};
  return OfferJson{{"host", host_name()}, {"from", probe_addresses(texts_of(offer), offer.port, offer.nonce, limits)}}
      .dump();
}

/// Returns the AddressSurvey of every node except the first, in the order of the nodes.
std::vector<AddressSurvey> surveys_from(std::span<const std::string> texts) {
  std::vector<AddressSurvey> surveys;
  for (const auto& text : texts) {
    if (text.empty()) continue;
    const auto json = OfferJson::parse(text);
    surveys.push_back({json["host"], json["from"]});
  }
  return surveys;
}

/// Returns the addresses of all nodes. `first`: address of the first node; `choice`: index of this address in the
/// surveys; `mine`: number of this node.
NodeAddresses addresses_of(const std::string& first, std::size_t choice, std::span<const AddressSurvey> surveys, int mine) {
  std::vector<std::string> of_nodes = {first};
  for (const auto& survey : surveys) of_nodes.push_back(survey.from[choice]);
  const auto interface = interface_with(of_nodes.at(static_cast<std::size_t>(mine)), addresses_of_this_node());
  return {of_nodes, interface};
}

}  // namespace

std::optional<std::size_t> first_reached_by_all(std::size_t count, std::span<const AddressSurvey> surveys) {
  for (std::size_t at = 0; at < count; ++at)
    if (std::ranges::none_of(surveys, [at](const AddressSurvey& survey) { return survey.from.at(at).empty(); })) return at;
  return std::nullopt;
}

std::string unreached_by(std::span<const std::string> addresses, std::span<const AddressSurvey> surveys) {
  std::vector<std::string> parts;
  for (const auto& survey : surveys) {
    std::vector<std::string> missed;
    for (std::size_t at = 0; at < addresses.size(); ++at)
      if (survey.from.at(at).empty()) missed.push_back(addresses[at]);
    if (!missed.empty()) parts.push_back(fmt::format("{} does not reach {}", survey.host, join(missed)));
  }
  return join(parts, "; ");
}

NodeAddresses find_addresses(Communicator& communicator, std::span<const int> node_of_rank, const std::string& interface) {
  if (std::ranges::max(node_of_rank) == 0 && interface.empty()) return addresses_of("127.0.0.1", 0, {}, 0);
  const int rank = communicator.rank();
  const int node = node_of_rank[static_cast<std::size_t>(rank)];
  std::unique_ptr<IdentityListener> listener;  // must exist until the other nodes have answered
  const auto offer = offer_from(
      communicator.broadcast_text(rank == 0 ? text_of_offer(offer_of_this_node(interface, listener)) : std::string(), 0));
  if (!offer.error.empty()) throw UsageError(offer.error);
  const bool answers = node != 0 && std::ranges::find(node_of_rank, node) - node_of_rank.begin() == rank;
  std::vector<AddressSurvey> surveys;
  for (const ConnectLimits limits : {ConnectLimits{2, 0.3}, ConnectLimits{10, 10}}) {
    surveys = surveys_from(communicator.all_gather(survey_text(offer, answers, limits)));
    if (const auto choice = first_reached_by_all(offer.addresses.size(), surveys))
      return addresses_of(offer.addresses[*choice].address, *choice, surveys, node);
  }
  throw Error(fmt::format(
      "no address of {}, the node of rank 0, can be reached from all other nodes ({}). "
      "The programs therefore cannot connect to each other. "
      "Choose another network with program.interface = NAME, or allow connections between the nodes in the firewall",
      offer.host, unreached_by(texts_of(offer), surveys)));
}

}  // namespace trainrt::program
