#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::launch {

/// Node of every rank from a PMI process mapping such as "(vector,(0,1,3),(1,2,1))": triples of first node, number of nodes
/// and ranks a node, laid out in order and repeated until every rank has its place (MPICH's PMI_process_mapping;
/// PMIX_ANL_MAP). Empty if the text is not of that form.
std::vector<int> nodes_from_mapping(std::string_view mapping, int size);

/// The same the other way round, of a dense list of nodes; as a period that repeats if the whole is long. "" if that
/// is too long for a value of PMI-1: MPI then compares host names.
std::string mapping_of_nodes(std::span<const int> node_of_rank);

}  // namespace trainrt::launch
