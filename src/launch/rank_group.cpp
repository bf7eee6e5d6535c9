#include "launch/rank_group.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/process/ignored_signal.hpp"
#include "core/process/spawn.hpp"
#include "launch/pmi/pmi_server.hpp"
#include "launch/rank_exchange.hpp"
#include "launch/standby.hpp"

namespace trainrt::launch {

namespace {

constexpr double grace_s = 3;            ///< seconds between the early exit of a rank and the kill of the other ranks
constexpr double max_standby_end_s = 1;  ///< maximum seconds to wait until the killed processes of a standby have ended

/// Returns a new file descriptor for the standard input of a rank, which the caller owns. If each rank reads the same file,
/// the descriptor is at the beginning of that file; otherwise it is a duplicate of `input.fd`, or /dev/null.
Descriptor open_input(const GroupInput& input) {
  if (input.fd < 0) return Descriptor(null_device);
  Descriptor own(input.is_for_all ? open(fmt::format("/proc/self/fd/{}", input.fd).c_str(), O_RDONLY | O_CLOEXEC)
                                  : fcntl(input.fd, F_DUPFD_CLOEXEC, 0));
  if (!own) throw Error(fmt::format("cannot open the standard input of a rank: {}", std::strerror(errno)));
  return own;
}

/// Returns the signal that the kernel sends to a rank if this process dies, so that the rank saves and stops. It is the
/// first stop signal that is not ignored: SIGTERM if possible.
int signal_at_death() {
  for (const int number : {SIGTERM, SIGUSR1, SIGUSR2, SIGHUP, SIGINT})
    if (!is_signal_ignored(number)) return number;
  return SIGKILL;
}

/// One rank of a RankGroup: its process, and the thread that serves PMI-1 to its MPI.
struct RankProcess {
  pid_t pid = -1;
  Descriptor socket;        ///< this process's end of the socket pair for PMI-1
  Descriptor standby_pipe;  ///< closed if the process does not wait as a standby
  std::optional<int> code;
  std::atomic<bool> finalized = false;
  std::thread server;
};

}  // namespace

class RankGroup::Impl {
 public:
  Impl(const std::vector<std::string>& command, int size, const GroupLimits& limits, GroupInput input, Start start_as)
      : exchange_(size, limits),
        has_copies_(limits.has_copies),
        environment_(without_launcher(inherited_environment())),
        ranks_(static_cast<std::size_t>(size)) {
    try {
      for (int rank = 0; rank < size; ++rank) {
        start(command, rank, open_input(input), start_as);
        if (!input.is_for_all) input.fd = -1;  // a stream, such as a pipe, is the standard input of rank 0 only
      }
      for (int rank = 0; rank < size; ++rank) serve(rank);
    } catch (...) {
      end_all();
      throw;
    }
  }

  ~Impl() { end_all(); }

  void begin() {
    auto changed = without_launcher(inherited_environment());
    std::erase_if(changed, [this](const auto& variable) {
      const auto found = environment_.find(variable.first);
      return found != environment_.end() && found->second == variable.second;
    });
    for (auto& rank : ranks_) {
      wake_standby(rank.pid, rank.standby_pipe.get(), changed);
      rank.standby_pipe.reset();
    }
  }

  bool is_complete() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      if (!ranks_[rank].code) collect(static_cast<int>(rank));
    return std::ranges::none_of(ranks_, [](const auto& rank) { return rank.code.has_value(); });
  }

  void signal(int number) const {
    for (const auto& rank : ranks_)
      if (rank.pid > 0 && !rank.code) kill(rank.pid, number);
  }

  bool ended() {
    std::size_t gone = 0;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (!ranks_[rank].code) collect(static_cast<int>(rank));
      if (ranks_[rank].code) ++gone;
    }
    if (gone == ranks_.size()) return true;
    if (aborted_.load().rank >= 0 || monotonic_seconds() >= kill_at_) kill_all();
    return false;
  }

  GroupEnd end() const { return aborted_.load().rank >= 0 ? aborted_.load() : first_; }
  int killed_rank() const { return killed_; }

 private:
  void start(const std::vector<std::string>& command, int number, const Descriptor& input, Start start_as) {
    std::array<int, 2> pair{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) fail_to_start(number, errno);
    auto& rank = ranks_[static_cast<std::size_t>(number)];
    rank.socket = Descriptor(pair[0]);
    const Descriptor socket_of_rank(pair[1]);
    auto environment = environment_of(number, socket_of_rank.get());
    std::vector<int> kept_files{socket_of_rank.get()};
    Descriptor standby_pipe;
    if (start_as == Start::as_standby) {
      Pipe pipe;
      if (!pipe) fail_to_start(number, errno);
      standby_pipe = std::move(pipe.read_end);
      rank.standby_pipe = std::move(pipe.write_end);
      environment[standby_variable] = std::to_string(standby_pipe.get());
      kept_files.push_back(standby_pipe.get());
    }
    rank.pid = spawn({.command = command,
                      .environment = std::move(environment),
                      .input = input.get(),
                      .kept_files = std::move(kept_files),
                      .closes_other_files = false,
                      .signal_at_parent_end = signal_at_death()});
    if (rank.pid < 0) fail_to_start(number, errno);
  }

  Variables environment_of(int rank, int socket) const {
    auto variables = environment_;
    const int size = static_cast<int>(ranks_.size());
    for (const auto& [name, value] : std::initializer_list<std::pair<const char*, int>>{{"PMI_FD", socket},
                                                                                        {"PMI_RANK", rank},
                                                                                        {"PMI_SIZE", size},
                                                                                        {"MPI_LOCALRANKID", rank},
                                                                                        {"MPI_LOCALNRANKS", size}})
      variables[name] = std::to_string(value);
    variables[rank_group_variable] = rank_group_name;
    return variables;
  }

  [[noreturn]] void fail_to_start(int number, int error_number) const {
    throw Error(fmt::format("cannot start rank {} of {}: {}{}", number, ranks_.size(), std::strerror(error_number),
                            error_number == EMFILE   ? "; raise ulimit -n to 3 for each rank, plus 100"
                            : error_number == EAGAIN ? "; raise ulimit -u, the number of your processes and threads"
                                                     : ""));
  }

  void serve(int number) {
    auto& rank = ranks_[static_cast<std::size_t>(number)];
    const int size = static_cast<int>(ranks_.size());
    PmiStore store{.rank = number,
                   .size = size,
                   .space = fmt::format("trainrt.{}", getpid()),
                   .process_mapping = fmt::format("(vector,(0,1,{}))", size),
                   .put = [this, number](const auto& key, const auto& value) { exchange_.put(number, key, value); },
                   .fence = [this, number] { fence(number); },
                   .get = [this](int other, const auto& key) { return exchange_.get(other, key); },
                   .finalize = [&rank] { rank.finalized = true; },
                   .abort = [this, number](int code) { abort(number, code); },
                   // After an error the PMI server closes the socket, and the rank's MPI then ends its process.
                   .fail = [](const std::string&) {}};
    try {
      rank.server = std::thread([store = std::move(store), socket = rank.socket.get()] { PmiServer(store).serve(socket); });
    } catch (const std::system_error& error) {
      fail_to_start(number, error.code().value());
    }
  }

  void fence(int rank) {
    const auto missing = exchange_.fence(rank);
    if (missing.empty()) return;
    if (record_abort(rank, static_cast<int>(ExitCode::failed)))
      log::error(missing +
                 " did not reach the start or the end of communication, where other ranks wait: "
                 "check why its process blocks");
    exchange_.wait_until_closed();
  }

  /// Handles a request of rank `rank` to abort, for example by MPI_Abort. The group ends with exit code `code`, or with 70
  /// if `code` is an error number of MPI and not an exit code. Blocks until RankExchange::close() is called: if the rank
  /// got an answer, its MPI would print an error.
  void abort(int rank, int code) {
    constexpr int max_exit_code = 128;
    record_abort(rank, code >= 0 && code < max_exit_code ? code : static_cast<int>(ExitCode::failed));
    exchange_.wait_until_closed();
  }

  /// Records that rank `rank` called MPI_Abort, or that its barrier failed. Returns true for the first such event in the
  /// group, whose `code` becomes the exit code of the group.
  bool record_abort(int rank, int code) {
    auto no_abort = GroupEnd{};
    return aborted_.compare_exchange_strong(no_abort, GroupEnd{code, rank});
  }

  void collect(int number) {
    auto& rank = ranks_[static_cast<std::size_t>(number)];
    int status = 0;
    if (waitpid(rank.pid, &status, WNOHANG) != rank.pid) return;
    rank.code = shell_exit_code(status);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !has_killed_ && killed_ < 0) killed_ = number;
    if (*rank.code != 0 && first_.exit_code == 0) first_ = {*rank.code, number};
    if (rank.finalized) return;
    exchange_.close(fmt::format("rank {} has ended", number));
    kill_at_ = std::min(kill_at_, monotonic_seconds() + (has_copies_ && has_copies_() ? 0 : grace_s));
  }

  /// Kills the ranks, waits for them, and joins the threads.
  void end_all() {
    kill_all();
    exchange_.close("the group has ended");
    const double standby_end_s = monotonic_seconds() + max_standby_end_s;
    for (auto& rank : ranks_) {
      if (rank.pid > 0 && !rank.code) wait_for_end(rank, standby_end_s);
      if (rank.socket) shutdown(rank.socket.get(), SHUT_RDWR);
      if (rank.server.joinable()) rank.server.join();
    }
  }

  /// Waits until a killed rank has ended. Waits for a process of a standby only until `standby_end_s`, by
  /// monotonic_seconds(): the kernel may delay its end, for example until a file server answers.
  static void wait_for_end(const RankProcess& rank, double standby_end_s) {
    if (!rank.standby_pipe) {
      waitpid(rank.pid, nullptr, 0);
      return;
    }
    while (waitpid(rank.pid, nullptr, WNOHANG) == 0 && monotonic_seconds() < standby_end_s)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  void kill_all() {
    has_killed_ = true;
    signal(SIGKILL);
  }

  RankExchange exchange_;
  const std::function<bool()> has_copies_;
  const Variables environment_;  ///< of this process, at the start of the ranks
  std::vector<RankProcess> ranks_;
  GroupEnd first_;  ///< exit code and number of the first rank that exited with an error
  std::atomic<GroupEnd> aborted_{GroupEnd{}};
  double kill_at_ = 1e300;
  int killed_ = -1;          ///< result of killed_rank()
  bool has_killed_ = false;  ///< this process has sent SIGKILL to the ranks
};

RankGroup::RankGroup(const std::vector<std::string>& command, int size, const GroupLimits& limits, GroupInput input,
                     Start start)
    : impl_(std::make_unique<Impl>(command, size, limits, input, start)) {}
RankGroup::~RankGroup() = default;
void RankGroup::begin() { impl_->begin(); }
bool RankGroup::is_complete() { return impl_->is_complete(); }
void RankGroup::signal(int number) const { impl_->signal(number); }
bool RankGroup::ended() { return impl_->ended(); }
GroupEnd RankGroup::end() const { return impl_->end(); }
int RankGroup::killed_rank() const { return impl_->killed_rank(); }

}  // namespace trainrt::launch
