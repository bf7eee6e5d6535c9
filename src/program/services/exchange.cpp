#include "program/services/exchange.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::program {

namespace {

constexpr double message_limit_s = 20;  // time limit for reading or writing one message

enum class Purpose : std::int32_t { enter = 1, leave = 2 };

/// The first bytes that a rank sends on a connection to the ExchangeServer. The numbers are in the byte order of the
/// machine, since both ends run the same program on the same kind of node.
struct ExchangeHeader {
  std::array<char, 32> secret{};
  Purpose purpose = Purpose::enter;
  std::int32_t rank = 0;
  std::int32_t round = 0;
  std::uint32_t bytes = 0;  ///< length of the rank's text, which follows the header
};

/// The first bytes of the ExchangeServer's answer to a rank.
struct AnswerHeader {
  std::int32_t has_failed = 0;  ///< 1 if the round has failed; one text then follows, the error message
  std::uint32_t texts = 0;      ///< number of texts that follow; the length of each text precedes it
};

template <class Plain>
std::string bytes_of(const Plain& plain) {
  std::string bytes(sizeof plain, '\0');
  std::memcpy(bytes.data(), &plain, sizeof plain);
  return bytes;
}

template <class Plain>
std::optional<Plain> read_plain(const Peer& peer, double limit_s) {
  Plain plain;
  std::array<char, sizeof plain> bytes{};
  if (!peer.read(bytes, limit_s)) return std::nullopt;
  std::memcpy(&plain, bytes.data(), sizeof plain);
  return plain;
}

ExchangeHeader header_of(const ExchangeAddress& server, Purpose purpose, int round, std::size_t bytes) {
  ExchangeHeader header;
  std::copy_n(server.secret.begin(), std::min(server.secret.size(), header.secret.size()), header.secret.begin());
  header.purpose = purpose;
  header.rank = server.rank;
  header.round = round;
  header.bytes = static_cast<std::uint32_t>(bytes);
  return header;
}

std::string with_length(const std::string& text) { return bytes_of(static_cast<std::uint32_t>(text.size())) + text; }

std::string text_from(const Peer& peer) {
  const auto bytes = read_plain<std::uint32_t>(peer, message_limit_s);
  if (!bytes || *bytes > ExchangeServer::max_bytes) throw Error("the answer of rank 0 is incomplete");
  std::string text(*bytes, '\0');
  if (!peer.read(text, message_limit_s)) throw Error("the answer of rank 0 is incomplete");
  return text;
}

}  // namespace

ExchangeServer::ExchangeServer(Descriptor listener, int size, std::string secret,
                               std::function<bool(const std::string&)> is_of_this_run)
    : size_(size),
      secret_(std::move(secret)),
      is_of_this_run_(std::move(is_of_this_run)),
      server_(std::move(listener), {is_of_this_run_,
                                    [this](const Peer&, std::string_view received, std::size_t) {
                                      return admission_by_beginning(received, secret_);
                                    },
                                    [this](Peer peer) { serve(std::move(peer)); }, max_pending_for(size)}) {}

void ExchangeServer::serve(Peer peer) {
  const auto header = read_plain<ExchangeHeader>(peer, message_limit_s);
  if (!header || header->bytes > max_bytes) return;
  if (header->rank < 0 || header->rank >= size_) return;
  if (header->purpose == Purpose::leave) {
    exited_[header->rank] = true;
    std::vector<int> open;
    for (const auto& [number, round] : rounds_) open.push_back(number);
    for (const int number : open) end_round_if_it_is_over(number);
    return;
  }
  std::string text(header->bytes, '\0');
  if (!peer.read(text, message_limit_s)) return;
  auto& round = rounds_[header->round];
  round.texts[header->rank] = std::move(text);
  round.waiting.push_back(std::move(peer));
  end_round_if_it_is_over(header->round);
}

void ExchangeServer::end_round_if_it_is_over(int number) {
  auto& round = rounds_.at(number);
  std::string answer;
  const auto missing = std::ranges::find_if(exited_, [&](const auto& rank) { return !round.texts.contains(rank.first); });
  if (missing != exited_.end()) {
    answer = bytes_of(AnswerHeader{1, 1}) + with_length(fmt::format("the program of rank {} has exited", missing->first));
  } else if (round.texts.size() == static_cast<std::size_t>(size_)) {
    answer = bytes_of(AnswerHeader{0, static_cast<std::uint32_t>(size_)});
    for (const auto& [rank, text] : round.texts) answer += with_length(text);
  } else {
    return;
  }
  for (const auto& peer : round.waiting) peer.write(answer, message_limit_s);
  rounds_.erase(number);
}

std::vector<std::string> exchange(const ExchangeAddress& server, int round, const std::string& mine, double limit_s) {
  if (mine.size() > ExchangeServer::max_bytes)
    throw Error(fmt::format("a rank cannot exchange a text of {} bytes; the maximum is {}", mine.size(),
                            ExchangeServer::max_bytes));
  const auto peer = connect_to(server.address, server.port, server.end, message_limit_s);
  if (!peer.write(bytes_of(header_of(server, Purpose::enter, round, mine.size())) + mine, message_limit_s))
    throw Error("rank 0 does not accept the connection");
  const auto answer = read_plain<AnswerHeader>(peer, limit_s);
  if (!answer) throw Error(fmt::format("not all ranks have joined within {:g} s, or rank 0 has exited", limit_s));
  std::vector<std::string> texts;
  for (std::uint32_t at = 0; at < answer->texts; ++at) texts.push_back(text_from(peer));
  if (answer->has_failed != 0) throw Error(texts.at(0));
  return texts;
}

void leave_exchange(const ExchangeAddress& server) try {
  const auto peer = connect_to(server.address, server.port, server.end, 2);
  peer.write(bytes_of(header_of(server, Purpose::leave, 0, 0)), 2);
} catch (const Error&) {
  // the ExchangeServer has ended, so no rank waits for this report
}

}  // namespace trainrt::program
