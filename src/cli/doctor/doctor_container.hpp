#pragma once
#include <optional>
#include <string>

#include "cli/doctor/doctor_check.hpp"
#include "cli/doctor/probe_file.hpp"
#include "launch/step_view.hpp"

namespace trainrt::cli::doctor {

/// Returns the finding about the parts of Slurm's PMIx that this process can use. A missing part is an error if a
/// container hides it and the ranks cannot connect without it, otherwise a warning. Pure function.
Finding finding_of_step(const launch::StepView& view);

/// Detects ranks of a node that do not share /dev/shm. This must happen before MPI starts, because MPI would end the
/// step with a message that does not name the cause. Does nothing unless Slurm started the ranks with PMIx.
class NodeMemoryProbe {
 public:
  /// Creates a file of this rank in /dev/shm. Must be called before launch::discover(), which waits for all ranks.
  explicit NodeMemoryProbe(const Environment& environment);

  /// Throws Error on a rank that does not see the files of all ranks of its node. Must be called after launch::discover().
  void require_shared(const World& world) const;

 private:
  std::string step_;               ///< the part of the file names that is the same for all ranks of the step
  std::optional<ProbeFile> file_;  ///< nullopt if there is nothing to detect
};

}  // namespace trainrt::cli::doctor
