#pragma once
#include <algorithm>
#include <cstddef>

#include <mpi.h>

#include "comm/mpi/mpi_call.hpp"
#include "comm/mpi/mpi_communicator.hpp"

namespace trainrt::comm {

/// Sends bytes to the rank `peer` and receives bytes from it. Long data is divided into messages that are short enough for
/// MPI's int counts.
struct MpiLane {
  static constexpr std::size_t max_message_bytes = std::size_t{1} << 28;

  MPI_Comm comm;
  int peer;
  int tag;

  void send(const void* data, std::size_t bytes, MpiRequests& requests) const {
    for (std::size_t done = 0; done < bytes; done += max_message_bytes)
      check_mpi(mpi().Isend(static_cast<const std::byte*>(data) + done, count(bytes - done), MPI_BYTE, peer, tag, comm,
                            requests.add()));
  }
  void receive(void* data, std::size_t bytes, MpiRequests& requests) const {
    for (std::size_t done = 0; done < bytes; done += max_message_bytes)
      check_mpi(mpi().Irecv(static_cast<std::byte*>(data) + done, count(bytes - done), MPI_BYTE, peer, tag, comm,
                            requests.add()));
  }

 private:
  static int count(std::size_t left) { return static_cast<int>(std::min(max_message_bytes, left)); }
};

}  // namespace trainrt::comm
