#include "cli/doctor/doctor_ranks.hpp"

#include <algorithm>
#include <filesystem>
#include <span>

#include "batch/signals.hpp"
#include "comm/agreement.hpp"
#include "comm/comm_error.hpp"
#include "core/host.hpp"

namespace trainrt::cli::doctor {

namespace {

constexpr std::size_t max_named = 4;  // maximum number of ranks, hosts, or groups of ranks in one message

Json answer_of(const std::function<Json()>& probe) {
  if (const int signal = batch::stop_signal(); signal != 0) return {{"stop", batch::signal_name(signal)}};
  try {
    return {{"value", probe()}};
  } catch (const std::exception& error) {
    return {{"error", error.what()}};
  }
}

/// Returns rank 0's subject on all ranks, except for `gpus_per_worker`. Rank 0 sends it as MessagePack, because JSON
/// cannot contain words that are not valid UTF-8.
Subject subject_of_rank_0(Communicator& communicator, const Subject& mine) {
  const auto bytes = Json::to_msgpack(Json::array({mine.storage, mine.command, mine.interface, mine.is_staged}));
  const auto shared = Json::from_msgpack(communicator.broadcast_text({bytes.begin(), bytes.end()}, 0));
  return {shared[0], mine.gpus_per_worker, shared[1], shared[2], shared[3]};
}

}  // namespace

DoctorRanks::DoctorRanks(const World& world, Communicator& communicator, const Environment& environment, Subject subject)
    : world_(world),
      communicator_(communicator),
      environment_(environment),
      subject_(subject_of_rank_0(communicator, subject)),
      hosts_(communicator.all_gather(host_name())),
      leaders_(static_cast<std::size_t>(world.node_count), -1) {
  for (int rank = 0; rank < world.size; ++rank) {
    auto& leader = leaders_[static_cast<std::size_t>(world.node_of_rank[static_cast<std::size_t>(rank)])];
    if (leader < 0) leader = rank;
  }
}

Answers DoctorRanks::collect(const std::function<Json()>& probe) const {
  const auto mine = answer_of(probe).dump(-1, ' ', false, Json::error_handler_t::replace);
  Answers answers;
  for (const auto& text : communicator_.all_gather(mine)) {
    const auto answer = Json::parse(text);
    const auto rank = static_cast<int>(answers.ranks.size());
    if (answer.contains("stop"))
      throw comm::AgreedError(fmt::format("stopped by {} before the last check", answer.at("stop").get<std::string>()),
                              ExitCode::stopped);
    if (answer.contains("error")) answers.failures.push_back({rank, answer.at("error")});
    answers.ranks.push_back(rank);
    answers.values.push_back(answer.value("value", Json()));
  }
  return answers;
}

Answers DoctorRanks::ask(const std::function<Json()>& probe) const {
  auto answers = collect(probe);
  if (!answers.failures.empty()) throw ProbeFailed(describe(answers.failures));
  return answers;
}

Answers DoctorRanks::ask_nodes(const std::function<Json()>& probe) const {
  auto all = ask([&] { return leads_node() ? probe() : Json(); });
  Answers answers{leaders_, {}, {}};
  for (const int leader : leaders_) answers.values.push_back(std::move(all.values[static_cast<std::size_t>(leader)]));
  return answers;
}

program::NodeAddresses DoctorRanks::program_addresses() const try {
  return program::find_addresses(communicator_, world_.node_of_rank, subject_.interface);
} catch (const comm::CollectiveTimeout&) {
  throw;  // on this rank only
} catch (const Error& failure) {
  throw ProbeFailed(failure.what());
}

std::string DoctorRanks::describe(const std::vector<Problem>& problems) const {
  std::vector<std::string> texts, parts;
  for (const auto& problem : problems) add_if_new(texts, problem.text);
  for (const auto& text : std::span(texts).first(std::min(texts.size(), max_named))) {
    std::vector<int> ranks;
    std::vector<std::string> hosts;
    for (const auto& problem : problems) {
      if (problem.text != text) continue;
      ranks.push_back(problem.rank);
      add_if_new(hosts, hosts_[static_cast<std::size_t>(problem.rank)]);
    }
    const auto shown = std::min(hosts.size(), max_named);
    parts.push_back(fmt::format("{} on {}{}: {}", ranks_text(ranks), join(std::span(hosts).first(shown)),
                                shown < hosts.size() ? ", ..." : "", text));
  }
  if (texts.size() > max_named) parts.push_back("and " + counted(std::ssize(texts) - std::ssize(parts), "other problem"));
  return join(parts, "; ");
}

std::string DoctorRanks::problems_in(const Answers& answers,
                                     const std::function<std::string(const Json&)>& problem_of) const {
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < answers.values.size(); ++i)
    if (auto text = problem_of(answers.values[i]); !text.empty()) problems.push_back({answers.ranks[i], std::move(text)});
  return describe(problems);
}

std::string DoctorRanks::problems_in(const Answers& answers, const char* key) const {
  return problems_in(answers, [&](const Json& answer) { return answer.at(key).get<std::string>(); });
}

void add_if_new(std::vector<std::string>& texts, const std::string& text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  const auto shown = std::min(ranks.size(), max_named);
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  return shown == ranks.size() ? text : text + fmt::format(" and {} more", ranks.size() - shown);
}

bool has_rdma_device() {
  std::error_code missing;
  return std::filesystem::directory_iterator("/sys/class/infiniband", missing) != std::filesystem::directory_iterator();
}

}  // namespace trainrt::cli::doctor
