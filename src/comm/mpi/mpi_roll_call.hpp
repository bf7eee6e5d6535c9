#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mpi.h>

namespace trainrt::comm {

/// Finds the ranks that have not joined a collective, by messages over MPI. A rank that has waited too long asks all ranks.
/// Ranks that wait in a collective answer. Ranks that compute, are stopped or have exited do not answer.
class MpiRollCall {
 public:
  explicit MpiRollCall(MPI_Comm parent);  ///< collective
  void close();                           ///< collective
  /// Sets the rank numbers that messages show, by MPI rank. Needed only if the rank numbers of the run differ from the MPI
  /// ranks.
  void set_numbers(std::vector<int> numbers) { numbers_ = std::move(numbers); }

  /// Sets this rank's answer to the questions of waiting ranks: the number of its current collective and its training step.
  void note(std::int64_t collective_number, std::int64_t step);
  /// Answers the questions that waiting ranks have sent to this rank. Does not block.
  void answer();
  /// Asks all ranks for their current collective and waits up to two seconds for the answers. Returns the ranks that did
  /// not answer, for example "rank 3 (no answer)". If all ranks answered, returns the ranks that are in another collective.
  std::string missing();

 private:
  struct Reply {
    std::int64_t number = 0;
    std::int64_t step = 0;
  };
  bool take(int tag, Reply& reply, int& from);
  int number_of(int rank) const { return numbers_.empty() ? rank : numbers_[static_cast<std::size_t>(rank)]; }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  std::vector<int> numbers_;
  Reply mine_;
  std::int64_t question_ = 0;
  std::vector<MPI_Request> sent_;
  std::vector<Reply> replies_;  ///< send buffers for the answers to other ranks, one per rank
};

}  // namespace trainrt::comm
