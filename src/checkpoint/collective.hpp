#pragma once
#include <functional>
#include <string>
#include <trainrt/communicator.hpp>
#include <vector>

namespace trainrt::checkpoint {

/// Runs `work` on rank 0 and gives its text to every rank. An exception there is thrown as Error on every rank, with the
/// same message and exit code. Collective.
std::string from_root(Communicator& communicator, const std::function<std::string()>& work);

/// Runs `work` on every rank and gives everybody's texts to every rank, in rank order. Exceptions are thrown as one Error
/// on every rank that names each failed rank and its host. So no rank waits for one that failed. Collective.
std::vector<std::string> on_every_rank(Communicator& communicator, const std::function<std::string()>& work);

/// The same, where failures are no exception: texts of the ranks that did it, and who could not and why. CannotRead on any
/// rank is thrown on all.
struct Gathered {
  std::vector<std::string> texts;     ///< one a rank
  std::vector<std::string> failures;  ///< "rank 1 on n2: cannot ..."
};
Gathered try_on_every_rank(Communicator& communicator, const std::function<std::string()>& work);

/// The lines of all ranks, each once; a rank whose work throws has that as its line. CannotRead on any rank is thrown on
/// all. Collective.
std::vector<std::string> distinct_lines(Communicator& communicator, const std::function<std::vector<std::string>()>& work);

/// "rank 1 on n2"
std::string who(const Communicator& communicator);

}  // namespace trainrt::checkpoint
