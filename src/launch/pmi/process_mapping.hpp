#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::launch {

/// Parses a PMI process mapping such as "(vector,(0,1,3),(1,2,1))" (PMI_process_mapping of MPICH, PMIX_ANL_MAP); returns
/// the node index of each of `size` ranks. Each triple holds the first node, the number of nodes and the number of ranks
/// per node. The triples are assigned in order, and repeated until all ranks are assigned. Returns an empty list if the
/// text is malformed.
std::vector<int> nodes_from_mapping(std::string_view mapping, int size);

/// Returns the PMI process mapping of `node_of_rank` (the node index of each rank), the inverse of nodes_from_mapping(). If
/// the node indexes repeat periodically, a long mapping contains only one period. Returns "" if the mapping is too long for
/// a PMI-1 value; MPI then compares host names instead.
std::string mapping_of_nodes(std::span<const int> node_of_rank);

}  // namespace trainrt::launch
