#include "program/services/xgboost_tracker.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/text/json_depth.hpp"
#include "core/text/text.hpp"

namespace trainrt::program {

namespace {

using TrackerJson = nlohmann::json;

constexpr double hello_limit_s = 5;
constexpr double connect_limit_s = 60;  // in which a worker connects to its neighbours
constexpr std::int32_t most_text_bytes = 1 << 20;
constexpr int first_free_port = 1024;

enum class JsonCommand : int { start = 1, shutdown = 2, error = 3, print = 4 };

std::int32_t int_from(const Peer& peer, double limit_s = hello_limit_s) {
  std::array<char, sizeof(std::int32_t)> bytes{};
  if (!peer.read(bytes, limit_s)) throw Error("a worker of XGBoost is gone");
  std::int32_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

std::string rest_from(const Peer& peer, std::int32_t bytes) {
  if (bytes < 0 || bytes > most_text_bytes) throw Error("no worker of XGBoost");
  std::string text(static_cast<std::size_t>(bytes), '\0');
  if (!peer.read(text, hello_limit_s)) throw Error("a worker of XGBoost is gone");
  return text;
}

std::string text_from_worker(const Peer& peer) { return rest_from(peer, int_from(peer)); }

std::string bytes_of_int(std::int32_t number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

std::string bytes_of_text(const std::string& text) { return bytes_of_int(static_cast<std::int32_t>(text.size())) + text; }

void write_to(const Peer& peer, const std::string& bytes) {
  if (!peer.write(bytes, hello_limit_s)) throw Error("a worker of XGBoost is gone");
}

TrackerJson json_from(const std::string& text) {
  if (is_nested_deeper(text, max_json_depth)) throw Error("no worker of XGBoost");
  return TrackerJson::parse(text);
}

/// What workers give to the tracker to be printed.
void print_for_worker(const std::string& text) {
  for (const auto& line : printable_lines(text)) fmt::print("{}\n", line);
  std::fflush(stdout);
}

std::optional<std::size_t> number_of(const std::string& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string xgboost_task_id(const Rendezvous& meeting) {
  return fmt::format("{}-{}", meeting.rank, meeting.printed_secret);
}

std::vector<std::size_t> places_by_task(const std::vector<std::string>& tasks) {
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t left, std::size_t right) {
    const auto first = number_of(tasks[left]);
    const auto second = number_of(tasks[right]);
    if (first && second) return *first < *second;
    return first.has_value() != second.has_value() ? first.has_value() : tasks[left] < tasks[right];
  });
  std::vector<std::size_t> places(tasks.size());
  for (std::size_t place = 0; place < order.size(); ++place) places[order[place]] = place;
  return places;
}

std::vector<int> RabitLinks::all() const {
  std::set<int> ranks(tree.begin(), tree.end());
  ranks.insert({previous, next});
  ranks.erase(-1);
  return {ranks.begin(), ranks.end()};
}

RabitLinks rabit_links(int rank, int size) {
  RabitLinks links;
  links.parent = (rank + 1) / 2 - 1;
  for (const int neighbour : {links.parent, 2 * rank + 1, 2 * rank + 2})
    if (neighbour >= 0 && neighbour < size) links.tree.push_back(neighbour);
  if (size == 1) return links;
  links.previous = (rank + size - 1) % size;
  links.next = (rank + 1) % size;
  return links;
}

XgboostTracker::XgboostTracker(const Rendezvous& meeting, Descriptor listener)
    : meeting_(meeting),
      server_(std::move(listener), {[this](const std::string& address) { return is_of_this_run(meeting_, address); },
                                    [this](const Peer& peer, std::string_view received, std::size_t examined) {
                                      return admission(peer, received, examined);
                                    },
                                    [this](Peer peer) { serve(std::move(peer)); }, max_pending_for(meeting.size)}) {}

/// A worker sends the rest once its magic number is answered.
Admission XgboostTracker::admission(const Peer& peer, std::string_view received, std::size_t examined) const {
  constexpr auto of_number = sizeof xgboost_magic_number;
  const auto found = admission_by_task(received, meeting_.printed_secret);
  if (found != Admission::refused && examined < of_number && received.size() >= of_number)
    write_to(peer, bytes_of_int(xgboost_magic_number));
  return found;
}

std::string XgboostTracker::rank_of_task(const std::string& task) const {
  const auto rank = rank_in_task(task, meeting_.printed_secret);
  if (!rank) throw Error("no worker of XGBoost");
  return *rank;
}

void XgboostTracker::serve(Peer peer) {
  int_from(peer);                     // the magic number
  const auto first = int_from(peer);  // rabit: the rank; else the length of an object
  const auto second = int_from(peer);
  std::string object(sizeof second, '\0');
  std::memcpy(object.data(), &second, sizeof second);
  if (!object.starts_with("{\"") || first <= static_cast<std::int32_t>(object.size()))
    return serve_rabit(std::move(peer), second);
  object += rest_from(peer, first - static_cast<std::int32_t>(object.size()));
  serve_json(std::move(peer), object);
}

bool XgboostTracker::is_complete(const std::vector<Worker>& workers) const {
  return workers.size() == static_cast<std::size_t>(meeting_.size);
}

void XgboostTracker::serve_rabit(Peer peer, int world_size) {
  auto task = rank_of_task(text_from_worker(peer));
  const auto command = text_from_worker(peer);
  if (command == "print") return print_for_worker(text_from_worker(peer));
  if (command != "start" || (world_size > 0 && world_size != meeting_.size)) return;
  of_rabit_.push_back({std::move(peer), std::move(task)});
  if (is_complete(of_rabit_)) start_rabit();
}

void XgboostTracker::serve_json(Peer peer, const std::string& introduction) {
  auto task = rank_of_task(json_from(introduction).at("task_id").get<std::string>());
  const auto command = json_from(text_from_worker(peer));
  switch (static_cast<JsonCommand>(command.at("cmd").get<int>())) {
    case JsonCommand::start:
      write_to(peer, bytes_of_text(TrackerJson{{"world_size", meeting_.size}}.dump()));
      of_json_.push_back({std::move(peer), std::move(task), command.at("port").get<int>()});
      if (is_complete(of_json_)) start_json();
      break;
    case JsonCommand::print:
      print_for_worker(command.at("msg").get<std::string>());
      break;
    case JsonCommand::error:
      print_for_worker(fmt::format("XGBoost, task {}: {}", task, command.at("msg").get<std::string>()));
      break;
    case JsonCommand::shutdown:
      break;  // the next communicator begins with a start
  }
}

/// Each worker gets its neighbours, and connects to those that came before; it listens for the others once it is done.
void XgboostTracker::start_rabit() {
  const auto workers = std::exchange(of_rabit_, {});
  std::vector<std::string> tasks;
  for (const auto& worker : workers) tasks.push_back(worker.task);
  const auto places = places_by_task(tasks);
  std::vector<std::optional<Reachable>> reachable(workers.size());
  for (std::size_t rank = 0; rank < workers.size(); ++rank) {
    const auto& worker = workers[static_cast<std::size_t>(std::ranges::find(places, rank) - places.begin())];
    const auto port = introduce(worker, static_cast<int>(rank), reachable);
    if (!port) return;  // the others see that the tracker gives them up
    reachable[rank] = Reachable{worker.peer.address(), *port};
  }
}

/// Returns the port that it listens on, for those that come later; nothing if it cannot connect.
std::optional<int> XgboostTracker::introduce(const Worker& worker, int rank,
                                             const std::vector<std::optional<Reachable>>& reachable) const {
  const auto links = rabit_links(rank, meeting_.size);
  std::string message;
  for (const int number : {rank, links.parent, meeting_.size, static_cast<int>(links.tree.size())})
    message += bytes_of_int(number);
  for (const int number : links.tree) message += bytes_of_int(number);
  message += bytes_of_int(links.previous) + bytes_of_int(links.next);
  std::string hosts;
  int to_connect = 0;
  int to_accept = 0;
  for (const int other : links.all()) {
    const auto& target = reachable.at(static_cast<std::size_t>(other));
    ++(target ? to_connect : to_accept);
    if (target) hosts += bytes_of_text(target->host) + bytes_of_int(target->port) + bytes_of_int(other);
  }
  write_to(worker.peer, message + bytes_of_int(to_connect) + bytes_of_int(to_accept) + hosts);
  // XGBoost 1.x says how many links it still has (0), how many failed, and its port; 2.0 leaves out the first.
  for (int turn = 0; turn < 3; ++turn) {
    const auto number = int_from(worker.peer, connect_limit_s);
    if (number >= first_free_port) return number;
    if (number != 0) return std::nullopt;
  }
  return std::nullopt;
}

/// A ring: each worker gets the next, and asks its way through to the others.
void XgboostTracker::start_json() {
  const auto workers = std::exchange(of_json_, {});
  std::vector<std::string> tasks;
  for (const auto& worker : workers) tasks.push_back(worker.task);
  const auto places = places_by_task(tasks);
  for (std::size_t at = 0; at < workers.size(); ++at) {
    const auto next_rank = (places[at] + 1) % workers.size();
    const auto& next = workers[static_cast<std::size_t>(std::ranges::find(places, next_rank) - places.begin())];
    write_to(workers[at].peer,
             bytes_of_text(TrackerJson{{"rank", next_rank}, {"host", next.peer.address()}, {"port", next.port}}.dump()));
  }
}

}  // namespace trainrt::program
