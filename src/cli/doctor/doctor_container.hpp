#pragma once
#include <optional>

#include "cli/doctor/doctor_check.hpp"
#include "cli/doctor/probe_file.hpp"
#include "launch/step_view.hpp"

namespace trainrt::cli::doctor {

/// What one process makes of its own view: an error if the ranks cannot form one world, a warning for anything else that is
/// missing.
Finding finding_of_step(const launch::StepView& view);

/// Finds ranks of a node whose /dev/shm is not the same, before MPI starts: MPI would end the step with words of its own.
class NodeMemoryProbe {
 public:
  /// Puts a file of this rank into /dev/shm. Before the launcher lets the ranks meet.
  explicit NodeMemoryProbe(const Environment& environment);

  /// Throws Error on a rank that does not see the files of the others of its node. After they have met, in a step of Slurm
  /// with PMIx; does nothing in others, whose ranks have not met yet.
  void require_shared(const World& world) const;

 private:
  std::string step_;               ///< beginning of all names of this step
  std::optional<ProbeFile> file_;  ///< nothing if this is no such step
};

}  // namespace trainrt::cli::doctor
