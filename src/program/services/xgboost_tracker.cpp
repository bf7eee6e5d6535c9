#include "program/services/xgboost_tracker.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/options.hpp"
#include "core/text/json_depth.hpp"
#include "core/text/text.hpp"

namespace trainrt::program {

namespace {

using TrackerJson = nlohmann::json;

constexpr double message_limit_s = 5;
constexpr double connect_limit_s = 60;  // time limit for a worker to connect to its neighbours
constexpr std::int32_t max_text_bytes = 1 << 20;
constexpr int first_free_port = 1024;

enum class JsonCommand : int { start = 1, shutdown = 2, error = 3, print = 4 };

std::int32_t read_number(const Peer& peer, double limit_s = message_limit_s) {
  std::array<char, sizeof(std::int32_t)> bytes{};
  if (!peer.read(bytes, limit_s)) throw Error("an XGBoost worker has disconnected");
  std::int32_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

std::string read_bytes(const Peer& peer, std::int32_t count) {
  if (count < 0 || count > max_text_bytes)
    throw Error(fmt::format("a caller of the XGBoost tracker sent a text of invalid length: {}", count));
  std::string text(static_cast<std::size_t>(count), '\0');
  if (!peer.read(text, message_limit_s)) throw Error("an XGBoost worker has disconnected");
  return text;
}

std::string read_text(const Peer& peer) { return read_bytes(peer, read_number(peer)); }

std::string bytes_of(std::int32_t number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

std::string bytes_of(const std::string& text) { return bytes_of(static_cast<std::int32_t>(text.size())) + text; }

void write_to(const Peer& peer, const std::string& bytes) {
  if (!peer.write(bytes, message_limit_s)) throw Error("an XGBoost worker has disconnected");
}

TrackerJson json_from(const std::string& text) {
  if (is_nested_deeper(text, max_json_depth))
    throw Error(fmt::format("a caller of the XGBoost tracker sent JSON with more than {} levels", max_json_depth));
  return TrackerJson::parse(text);
}

/// Prints a text that a worker has sent with the command "print".
void print_for_worker(const std::string& text) {
  for (const auto& line : printable_lines(text)) fmt::print("{}\n", line);
  std::fflush(stdout);
}

}  // namespace

std::string xgboost_task_id(const Rendezvous& rendezvous) {
  return fmt::format("{}-{}", rendezvous.rank, rendezvous.printed_secret);
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

XgboostTracker::XgboostTracker(const Rendezvous& rendezvous, Descriptor listener)
    : rendezvous_(rendezvous),
      server_(std::move(listener), {[this](const std::string& address) { return is_of_this_run(rendezvous_, address); },
                                    [this](const Peer& peer, std::string_view received, std::size_t examined) {
                                      return admission(peer, received, examined);
                                    },
                                    [this](Peer peer) { serve(std::move(peer)); }, max_pending_for(rendezvous.size)}) {}

/// Returns whether to serve a worker, and sends the magic number back when it has arrived. The worker waits for this
/// answer before it sends its task id.
Admission XgboostTracker::admission(const Peer& peer, std::string_view received, std::size_t examined) const {
  constexpr auto number_bytes = sizeof xgboost_magic_number;
  const auto found = admission_by_task(received, rendezvous_.printed_secret);
  if (found != Admission::refused && examined < number_bytes && received.size() >= number_bytes)
    write_to(peer, bytes_of(xgboost_magic_number));
  return found;
}

int XgboostTracker::rank_of_task(const std::string& task) const {
  const auto rank = parse_integer(rank_in_task(task, rendezvous_.printed_secret).value_or(""));
  if (!rank || *rank < 0 || *rank >= rendezvous_.size) throw Error("an XGBoost worker sent an invalid task id");
  return static_cast<int>(*rank);
}

void XgboostTracker::serve(Peer peer) {
  read_number(peer);                     // xgboost_magic_number
  const auto first = read_number(peer);  // rabit: the rank; JSON: the length of the object
  const auto second = read_number(peer);
  std::string object(sizeof second, '\0');
  std::memcpy(object.data(), &second, sizeof second);
  if (!object.starts_with("{\"") || first <= static_cast<std::int32_t>(object.size()))
    return serve_rabit(std::move(peer), second);
  object += read_bytes(peer, first - static_cast<std::int32_t>(object.size()));
  serve_json(std::move(peer), object);
}

/// Returns whether all workers have connected, and sorts `workers` by rank in this case.
bool XgboostTracker::is_complete(std::vector<Worker>& workers) const {
  if (workers.size() != static_cast<std::size_t>(rendezvous_.size)) return false;
  std::ranges::sort(workers, {}, &Worker::rank);
  return true;
}

void XgboostTracker::serve_rabit(Peer peer, int world_size) {
  const auto rank = rank_of_task(read_text(peer));
  const auto command = read_text(peer);
  if (command == "print") return print_for_worker(read_text(peer));
  if (command != "start" || (world_size > 0 && world_size != rendezvous_.size)) return;
  rabit_workers_.push_back({std::move(peer), rank});
  if (is_complete(rabit_workers_)) start_rabit(std::exchange(rabit_workers_, {}));
}

void XgboostTracker::serve_json(Peer peer, const std::string& introduction) {
  const auto rank = rank_of_task(json_from(introduction).at("task_id").get<std::string>());
  const auto command = json_from(read_text(peer));
  switch (static_cast<JsonCommand>(command.at("cmd").get<int>())) {
    case JsonCommand::start:
      write_to(peer, bytes_of(TrackerJson{{"world_size", rendezvous_.size}}.dump()));
      json_workers_.push_back({std::move(peer), rank, command.at("port").get<int>()});
      if (is_complete(json_workers_)) start_json(std::exchange(json_workers_, {}));
      break;
    case JsonCommand::print:
      print_for_worker(command.at("msg").get<std::string>());
      break;
    case JsonCommand::error:
      print_for_worker(fmt::format("XGBoost, task {}: {}", rank, command.at("msg").get<std::string>()));
      break;
    case JsonCommand::shutdown:
      break;  // the next communicator begins with `start`
  }
}

/// Sends each worker, in the order of the ranks, its neighbours. The worker connects to the neighbours of lower rank,
/// and then listens for the neighbours of higher rank.
void XgboostTracker::start_rabit(std::vector<Worker> workers) const {
  for (std::size_t at = 0; at < workers.size(); ++at)
    if (!introduce(workers, at)) return;  // closes all connections; the other workers notice it
}

/// Sends the worker at index `at` its neighbours, and receives the port on which the worker listens. Returns false if
/// the worker cannot connect to its neighbours of lower rank.
bool XgboostTracker::introduce(std::vector<Worker>& workers, std::size_t at) {
  auto& worker = workers[at];
  const auto rank = static_cast<int>(at), size = static_cast<int>(workers.size());
  const auto links = rabit_links(rank, size);
  std::string message;
  for (const int number : {rank, links.parent, size, static_cast<int>(links.tree.size())}) message += bytes_of(number);
  for (const int number : links.tree) message += bytes_of(number);
  message += bytes_of(links.previous) + bytes_of(links.next);
  std::string hosts;
  int to_connect = 0, to_accept = 0;
  for (const int other : links.all()) {
    ++(other < rank ? to_connect : to_accept);
    const auto& neighbour = workers[static_cast<std::size_t>(other)];
    if (other < rank) hosts += bytes_of(neighbour.peer.address()) + bytes_of(neighbour.port) + bytes_of(other);
  }
  write_to(worker.peer, message + bytes_of(to_connect) + bytes_of(to_accept) + hosts);
  // XGBoost 1.x sends three numbers: the number of its links (0), the number of failed links, and its port. XGBoost 2.0
  // omits the first number.
  for (int i = 0; i < 3 && worker.port == 0; ++i) {
    worker.port = read_number(worker.peer, connect_limit_s);
    if (worker.port != 0 && worker.port < first_free_port) return false;
  }
  return worker.port != 0;
}

/// Sends each worker the address of the next worker in the ring. Over the ring, the workers exchange the addresses of
/// all workers.
void XgboostTracker::start_json(const std::vector<Worker>& workers) {
  for (std::size_t at = 0; at < workers.size(); ++at) {
    const auto next_rank = (at + 1) % workers.size();
    const auto& next = workers[next_rank];
    write_to(workers[at].peer,
             bytes_of(TrackerJson{{"rank", next_rank}, {"host", next.peer.address()}, {"port", next.port}}.dump()));
  }
}

}  // namespace trainrt::program
