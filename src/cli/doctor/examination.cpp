#include "cli/doctor/examination.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "comm/agreement.hpp"
#include "core/host.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli::doctor {

namespace {

constexpr std::size_t most_named = 4;  // ranks, or groups of them, in one message

Json answer_of(const std::function<Json()>& work) {
  Json answer;
  if (const int signal = batch::stop_signal(); signal != 0) {
    answer["stop"] = batch::signal_name(signal);
    return answer;
  }
  try {
    answer["said"] = work();
  } catch (const std::exception& error) {
    answer["trouble"] = error.what();
  }
  return answer;
}

/// Rank 0's, but for the GPUs that this rank asks for. No part holds a NUL, and one ends each.
Subject subject_of_first(Communicator& communicator, Subject mine) {
  mine.command.insert(mine.command.begin(), {mine.storage, mine.interface, mine.is_staged ? "staged" : ""});
  std::string text;
  for (const auto& part : mine.command) text += part + '\0';
  text = communicator.broadcast_text(text, 0);
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size(); begin += parts.back().size() + 1)
    parts.push_back(text.substr(begin, text.find('\0', begin) - begin));
  const std::vector<std::string> command(parts.begin() + 3, parts.end());
  return {parts[0], mine.gpus_per_worker, command, parts[1], !parts[2].empty()};
}

/// The ranks that share a trouble.
struct Group {
  std::string text;
  std::vector<int> ranks;
  std::vector<std::string> hosts;
};

}  // namespace

Examination::Examination(const World& world, Communicator& communicator, const Environment& environment, Subject subject)
    : world_(world),
      communicator_(communicator),
      environment_(environment),
      subject_(subject_of_first(communicator, std::move(subject))),
      hosts_(communicator.all_gather(host_name())),
      leaders_(static_cast<std::size_t>(world.node_count), -1) {
  for (int rank = 0; rank < world.size; ++rank) {
    auto& leader = leaders_[static_cast<std::size_t>(world.node_of_rank[static_cast<std::size_t>(rank)])];
    if (leader < 0) leader = rank;
  }
}

Answers Examination::ask(const std::function<Json()>& work) const {
  // Names of files need not be UTF-8: what is not is replaced.
  const auto mine = answer_of(work).dump(-1, ' ', false, Json::error_handler_t::replace);
  Answers answers;
  for (const auto& text : communicator_.all_gather(mine)) {
    const auto answer = Json::parse(text);
    const auto rank = static_cast<int>(answers.of_rank.size());
    if (answer.contains("stop"))
      throw comm::AgreedError(fmt::format("stopped by {} before the end", answer.at("stop").get<std::string>()),
                              ExitCode::stopped);
    if (answer.contains("trouble")) answers.troubles.push_back({rank, answer.at("trouble")});
    answers.of_rank.push_back(answer.value("said", Json()));
  }
  return answers;
}

Answers Examination::ask_nodes(const std::function<Json()>& work) const {
  auto all = ask([&] { return leads_node() ? work() : Json(); });
  Answers answers{{}, std::move(all.troubles)};
  for (const int leader : leaders_) answers.of_rank.push_back(std::move(all.of_rank[static_cast<std::size_t>(leader)]));
  return answers;
}

std::string Examination::describe(const std::vector<Trouble>& troubles) const {
  std::vector<Group> groups;
  for (const auto& trouble : troubles) {
    auto group = std::ranges::find(groups, trouble.text, &Group::text);
    if (group == groups.end()) group = groups.insert(groups.end(), {trouble.text, {}, {}});
    group->ranks.push_back(trouble.rank);
    const auto& host = hosts_[static_cast<std::size_t>(trouble.rank)];
    if (std::ranges::find(group->hosts, host) == group->hosts.end()) group->hosts.push_back(host);
  }
  std::vector<std::string> parts;
  for (const auto& group : groups) {
    const auto shown = std::min(group.hosts.size(), most_named);
    parts.push_back(fmt::format("{} on {}{}: {}", ranks_text(group.ranks), join(std::span(group.hosts).first(shown)),
                                shown < group.hosts.size() ? ", ..." : "", group.text));
    if (parts.size() == most_named && groups.size() > most_named) {
      parts.push_back(fmt::format("and {} other troubles", groups.size() - most_named));
      break;
    }
  }
  return join(parts, "; ");
}

bool has_fabric() {
  std::error_code error;  // if the folder is not there the iterator is at its end
  return std::filesystem::directory_iterator("/sys/class/infiniband", error) != std::filesystem::directory_iterator();
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  const auto shown = std::min(ranks.size(), most_named);
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  if (shown < ranks.size()) text += fmt::format(" and {} more", ranks.size() - shown);
  return text;
}

}  // namespace trainrt::cli::doctor
