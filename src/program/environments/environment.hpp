#pragma once
#include <string>
#include <vector>

#include "core/process/child_environment.hpp"
#include "program/environments/framework_environment.hpp"
#include "program/rendezvous/rendezvous.hpp"

namespace trainrt::program {

/// Returns the environment of a rank's program. Pure function. The environment consists of
/// - the inherited variables, except those of restart_help.hpp and those with which the program would join MPI or PMIx
///   in place of this rank
/// - RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE and NODE_RANK
/// - OMP_NUM_THREADS and other defaults, if `inherited` lacks them
/// - the variables of the frameworks
Variables environment_with(Variables inherited, const Rendezvous& rendezvous, const Frameworks& frameworks);

/// Sets the members of `rendezvous` that this rank determines without communication: those about GPUs and Slurm.
/// `hides_gpus`: the program must not use GPUs.
void add_node_facts(Rendezvous& rendezvous, bool hides_gpus);

/// Returns the complete environment of a program: environment_with() for the variables of this process and `extra`, and
/// the variables of trainrt's client. These are TRAINRT_RUN_NAME, TRAINRT_RUN_DIR, TRAINRT_FD = `socket`, and
/// PYTHONPATH with the folder of the client in front. PYTHONUNBUFFERED and PYTHONFAULTHANDLER become 1 unless they are
/// set.
Variables program_environment(const Rendezvous& rendezvous, int socket, const Frameworks& frameworks,
                              const Variables& extra = {});

}  // namespace trainrt::program
