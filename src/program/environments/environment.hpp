#pragma once
#include <string>
#include <vector>

#include "core/process/child_environment.hpp"
#include "program/environments/framework_environment.hpp"
#include "program/rendezvous/rendezvous.hpp"

namespace trainrt::program {

/// Returns the environment of a program: the inherited variables, without those that would let the program join MPI or PMIx
/// in place of this rank; RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE and NODE_RANK; OMP_NUM_THREADS and other defaults
/// if they are not set; and the variables of the frameworks. Pure.
Variables environment_with(Variables inherited, const Rendezvous& rendezvous, const Frameworks& frameworks);

/// Sets the members of `rendezvous` that this rank knows without the others: GPUs and Slurm. `hides_gpus`: the program must
/// not use GPUs.
void add_node_facts(Rendezvous& rendezvous, bool hides_gpus);

/// Returns environment_with() for the variables of this process and `extra`, and adds the variables of the client:
/// TRAINRT_RUN_NAME, TRAINRT_RUN_DIR, TRAINRT_FD = `socket`, and the client's folder at the front of PYTHONPATH. Sets
/// PYTHONUNBUFFERED = 1 and PYTHONFAULTHANDLER = 1 unless they are set.
Variables program_environment(const Rendezvous& rendezvous, int socket, const Frameworks& frameworks,
                              const Variables& extra = {});

}  // namespace trainrt::program
