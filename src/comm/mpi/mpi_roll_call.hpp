#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mpi.h>

namespace trainrt::comm {

/// Finds out which ranks wait in a collective and which do not: who has waited too long asks all, and who waits answers. A
/// rank that is computing, stopped or dead does not.
class MpiRollCall {
 public:
  explicit MpiRollCall(MPI_Comm parent);
  void close();  ///< collective
  /// What the ranks are called in messages, if that is not their number in MPI.
  void call_them(std::vector<int> numbers) { numbers_ = std::move(numbers); }

  /// What others are told while this rank waits.
  void note(std::int64_t collective_number, std::int64_t step);
  /// Answers who has asked. Cheap.
  void answer();
  /// "rank 3 (last seen at step 12)", all ranks that do not answer within two seconds; else what the others do.
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
  std::vector<Reply> replies_;  ///< under way: one a rank
};

}  // namespace trainrt::comm
