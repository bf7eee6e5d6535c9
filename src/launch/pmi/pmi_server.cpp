#include "launch/pmi/pmi_server.hpp"

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

namespace trainrt::launch {

namespace {

/// Returns the key-value pairs of a PMI-1 request such as "cmd=put kvsname=a key=b value=c". Values contain no blanks in
/// this protocol.
std::map<std::string, std::string> words_of(const std::string& line) {
  std::map<std::string, std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;) {
    const auto equals = word.find('=');
    if (equals != std::string::npos) words[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return words;
}

bool send_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const auto sent = send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

PmiServer::PmiServer(PmiStore store) : store_(std::move(store)) {}

void PmiServer::serve(int socket) {
  answer_requests(socket);
  shutdown(socket, SHUT_RDWR);  // the MPI of the rank would otherwise wait for an answer
}

void PmiServer::answer_requests(int socket) {
  std::string pending;
  char buffer[4096];
  for (;;) {
    const auto got = read(socket, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    pending.append(buffer, static_cast<std::size_t>(got));
    for (auto end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
      const auto line = pending.substr(0, end);
      pending.erase(0, end + 1);
      std::string reply;
      try {
        reply = answer(line);
      } catch (const std::exception& error) {
        store_.fail(error.what());
      }
      if (reply.empty() || !send_all(socket, reply + "\n") || reply == "cmd=finalize_ack") return;
    }
  }
}

std::string PmiServer::answer(const std::string& line) {
  auto words = words_of(line);
  const auto command = words["cmd"];
  if (command == "init") return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0";
  if (command == "get_maxes") return "cmd=maxes kvsname_max=256 keylen_max=256 vallen_max=4096";
  if (command == "get_appnum") return "cmd=appnum appnum=0";
  if (command == "get_my_kvsname") return "cmd=my_kvsname kvsname=" + store_.space;
  if (command == "get_universe_size") return fmt::format("cmd=universe_size size={}", store_.size);
  if (command == "put") {
    mine_[words["key"]] = words["value"];
    return "cmd=put_result rc=0 msg=success";
  }
  if (command == "barrier_in") return barrier();
  if (command == "get") {
    const auto found = shared_.find(words["key"]);
    if (found != shared_.end()) return "cmd=get_result rc=0 msg=success value=" + found->second;
    if (words["key"] == "PMI_process_mapping" && !store_.process_mapping.empty())
      return "cmd=get_result rc=0 msg=success value=" + store_.process_mapping;
    return "cmd=get_result rc=-1 msg=key_not_found value=unknown";
  }
  if (command == "finalize") {
    if (store_.finalize) store_.finalize();
    return "cmd=finalize_ack";
  }
  if (command == "abort") {
    store_.abort(std::atoi(words["exitcode"].c_str()));
    return "";
  }
  return fmt::format("cmd={}_result rc=-1 msg=not_supported", command);
}

std::string PmiServer::barrier() {
  constexpr auto done = "cmd=barrier_out rc=0";
  if (start_is_over_) return done;
  const auto key = fmt::format("trainrt.pmi.{}", epoch_++);
  std::string packed;
  for (const auto& [name, value] : mine_) packed += name + "=" + value + "\n";
  mine_.clear();
  store_.put(key, packed);
  store_.fence();
  for (int rank = 0; rank < store_.size; ++rank) {
    std::istringstream pairs(store_.get(rank, key));
    for (std::string pair; std::getline(pairs, pair);) {
      const auto equals = pair.find('=');
      shared_[pair.substr(0, equals)] = pair.substr(equals + 1);
    }
  }
  return done;
}

}  // namespace trainrt::launch
