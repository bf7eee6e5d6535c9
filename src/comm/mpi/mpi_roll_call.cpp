#include "comm/mpi/mpi_roll_call.hpp"

#include <optional>

#include <fmt/format.h>
#include <sched.h>

#include "comm/mpi/mpi_call.hpp"
#include "core/host.hpp"

namespace trainrt::comm {

namespace {

constexpr int question_tag = 1;
constexpr int reply_tag = 2;
constexpr double max_roll_call_s = 2;

}  // namespace

MpiRollCall::MpiRollCall(MPI_Comm parent)
    : comm_(mpi_duplicate(parent)),
      rank_(mpi_rank(parent)),
      size_(mpi_size(parent)),
      replies_(static_cast<std::size_t>(size_)) {}

void MpiRollCall::close() { mpi().Comm_free(&comm_); }

void MpiRollCall::note(std::int64_t collective_number, std::int64_t step) { mine_ = {collective_number, step}; }

bool MpiRollCall::take(int tag, Reply& reply, int& from) {
  int found = 0;
  MPI_Status status;
  check_mpi(mpi().Iprobe(MPI_ANY_SOURCE, tag, comm_, &found, &status));
  if (found == 0) return false;
  from = status.MPI_SOURCE;
  check_mpi(mpi().Recv(&reply, sizeof reply, MPI_BYTE, from, tag, comm_, MPI_STATUS_IGNORE));
  return true;
}

void MpiRollCall::answer() {
  Reply question;
  int from = 0;
  while (take(question_tag, question, from)) {
    auto& reply = replies_[static_cast<std::size_t>(from)];
    reply = mine_;
    check_mpi(mpi().Isend(&reply, sizeof reply, MPI_BYTE, from, reply_tag, comm_, &sent_.emplace_back()));
  }
}

std::string MpiRollCall::missing() {
  for (int other = 0; other < size_; ++other)
    if (other != rank_)
      check_mpi(mpi().Isend(&question_, sizeof(Reply) / 2, MPI_BYTE, other, question_tag, comm_, &sent_.emplace_back()));
  std::vector<std::optional<Reply>> heard(static_cast<std::size_t>(size_));
  const auto start = monotonic_seconds();
  for (int left = size_ - 1; left > 0 && monotonic_seconds() - start < max_roll_call_s; sched_yield()) {
    answer();
    Reply reply;
    int from = 0;
    if (!take(reply_tag, reply, from)) continue;
    heard[static_cast<std::size_t>(from)] = reply;
    --left;
  }
  std::string silent, elsewhere;
  const auto append = [](std::string& text, const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  for (int other = 0; other < size_; ++other) {
    const auto& reply = heard[static_cast<std::size_t>(other)];
    if (other == rank_) continue;
    if (!reply)
      append(silent, fmt::format("rank {} (no answer)", number_of(other)));
    else if (reply->number != mine_.number)
      append(elsewhere, fmt::format("rank {} (waiting in collective {} at step {}; this rank is in collective {})",
                                    number_of(other), reply->number, reply->step, mine_.number));
  }
  if (!silent.empty()) return silent;
  return elsewhere.empty() ? "the other ranks, which are also waiting" : elsewhere;
}

}  // namespace trainrt::comm
