#include "rundir/records/excluded_nodes.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/text/json_depth.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::rundir {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format_name = "trainrt excluded nodes 1";

/// Returns whether `text` can be the name of a single node: it is not a list, and has no characters that are special to a
/// shell or to Slurm.
bool is_node_name(const std::string& text) {
  constexpr std::size_t max_length = 255;
  return !text.empty() && text.size() <= max_length && text[0] != '-' && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
}

int attempt_from(const Json& entry) {
  if (!entry.contains("since_attempt")) return 0;
  const auto& number = entry.at("since_attempt");
  if (!number.is_number_integer() || number < 0 || number > std::numeric_limits<int>::max())
    throw Error(fmt::format("'since_attempt' is {}; it must be an integer of at least 0", excerpt(number.dump())));
  return number.get<int>();
}

ExcludedNode node_from(const Json& entry) {
  ExcludedNode node{.node = entry.at("node").get<std::string>(),
                    .why = entry.value("why", ""),
                    .since_attempt = attempt_from(entry),
                    .time = entry.value("time", "")};
  if (!is_node_name(node.node))
    throw Error(fmt::format("'node' is '{}', which is not a valid node name", excerpt(node.node)));
  return node;
}

std::vector<ExcludedNode> nodes_from(const std::string& text) {
  if (is_nested_deeper(text, max_json_depth)) throw Error("its JSON is nested too deep");
  const auto json = Json::parse(text);
  if (json.at("format") != format_name)
    throw Error(fmt::format("its format is {}; this version reads \"{}\"", excerpt(json.at("format").dump()), format_name));
  std::vector<ExcludedNode> nodes;
  for (const auto& entry : json.at("nodes")) {
    auto node = node_from(entry);
    if (std::ranges::find(nodes, node.node, &ExcludedNode::node) == nodes.end()) nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace

std::vector<ExcludedNode> read_excluded_nodes(const std::string& run_dir) {
  const auto path = run_dir + "/" + excluded_nodes_name;
  if (!io::retried([&] { return io::exists(path); })) return {};
  const auto text = io::retried([&] { return io::read_file(path); });
  try {
    return nodes_from(text);
  } catch (const std::exception& error) {
    throw UsageError(
        fmt::format("cannot read {}: {}. Fix the file, or remove it to exclude no nodes", path, excerpt(error.what())));
  }
}

void write_excluded_nodes(const std::string& run_dir, std::span<const ExcludedNode> nodes) {
  Json json = {{"format", format_name}, {"nodes", Json::array()}};
  for (const auto& node : nodes)
    json["nodes"].push_back(
        {{"node", node.node}, {"why", node.why}, {"since_attempt", node.since_attempt}, {"time", node.time}});
  const auto text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  io::retried([&] { io::replace_file(run_dir + "/" + excluded_nodes_name, text); });
}

std::vector<std::string> names_of(std::span<const ExcludedNode> nodes) {
  std::vector<std::string> names;
  for (const auto& node : nodes) names.push_back(node.node);
  return names;
}

}  // namespace trainrt::rundir
