#pragma once

namespace trainrt::comm {

/// What prepare_mpi() put into the environment for MPI_Init, taken out again: no child is to take itself for this rank.
void end_preparation();

}  // namespace trainrt::comm
