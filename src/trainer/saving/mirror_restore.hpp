#pragma once
#include <optional>
#include <string>

#include <trainrt/communicator.hpp>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/mirrored_run.hpp"
#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// A checkpoint that was brought from a mirror.
struct Brought {
  std::optional<checkpoint::Meta> meta;  ///< nullopt: no checkpoint there can be used
  std::string unreported;                ///< the newest intact checkpoint whose reports are missing; "" = none
};

/// Brings the mirror's newest checkpoint that is intact by its digests, and whose reports the directory `reports_in` holds,
/// into the directory `into`, which exists. Warns of each that cannot be used. Throws StorageError.
Brought bring_newest(const checkpoint::MirroredRun& mirror, const std::string& into, const std::string& reports_in);

/// If there is no run directory, and checkpoint.mirror has a copy of this run with a checkpoint that is complete: brings
/// its records and the newest checkpoint that is whole, by its digests, and puts them in the place of the run directory.
/// Collective; rank 0 does it. All throw the same if the store cannot be asked.
void restore_from_mirror(const config::RunSpec& spec, Communicator& communicator);

}  // namespace trainrt::trainer
