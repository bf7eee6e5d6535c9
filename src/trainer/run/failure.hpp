#pragma once
#include <cstdint>
#include <string>

#include <trainrt/error.hpp>

#include "config/run_spec.hpp"
#include "io/files/fenced_directory.hpp"
#include "launch/launcher.hpp"
#include "trainer/events/callbacks.hpp"
#include "trainer/session/session.hpp"

namespace trainrt::trainer {

/// What an attempt is called and what it may have to leave no trace of.
struct AttemptPlace {
  const config::RunSpec& spec;
  int attempt;
  io::FencedDirectory files;  ///< the run directory
  std::string there_before;   ///< the deepest folder of the storage path that this attempt found
  const Callbacks& callbacks;
  bool is_new = false;      ///< it found no run there
  bool has_caller = false;  ///< TrainCall::has_caller
};

/// How an attempt failed, for error.txt and the attempt's record.
struct Failure {
  std::string text;     ///< one line
  std::string details;  ///< lines that only error.txt gets
  ExitCode code = ExitCode::failed;
  std::int64_t step = 0;
  bool silent = false;           ///< of a program that has reported no progress
  std::string blamed_node = {};  ///< AttemptRecord::blamed_node
};

/// Puts it into error.txt, the attempt's record and run.json, if no other rank has done so. Any rank and thread may
/// call. Throws StorageError.
void write_down(const AttemptPlace& place, const Failure& failure);

/// One rank's train function failed, and the others wait for it somewhere: says it, writes it down, ends the step. Called
/// if the exception is handled. `whole_message`: of the exception, of any number of lines. Throws `error`, and says
/// nothing, if this is the only rank and has a caller who says it; also if the ranks are threads, which no abort() ends.
[[noreturn]] void fail_everywhere(const AttemptPlace& place, const Session& session, launch::Launch& launch,
                                  const Error& error, const std::string& whole_message);

/// What is said of an attempt that a newer one has fenced off. Whatever went wrong in it went wrong for that.
std::string fenced_text(int attempt);

/// Ends the step of such an attempt: with 70, not 75, since a batch script must not requeue a job of which a requeue is
/// running already. Nothing is written down: the run directory is the newer attempt's.
void end_as_fenced(int attempt, launch::Launch& launch);

}  // namespace trainrt::trainer
