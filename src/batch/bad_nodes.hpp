#pragma once
#include <optional>
#include <span>
#include <string>

namespace trainrt::batch {

/// The node that an attempt ended at.
struct NodeEnd {
  int attempt = 0;
  std::string node;   ///< "" if no node is to blame
  bool slow = false;  ///< the attempt stopped because the node slowed the others down; it did not fail there
  std::string why;    ///< why the attempt ended
};

/// The limits that the config sets for the exclusion of nodes.
struct ExclusionRules {
  int min_ends = 0;   ///< number of attempts that must end at a node before it is excluded; 0: never
  int max_nodes = 0;  ///< maximum number of excluded nodes at a time
};

/// A node that the run should no longer use.
struct BadNode {
  std::string name;
  std::string why;          ///< "3 attempts ended there (4, 5, 7)"
  bool can_exclude = true;  ///< false if `max_nodes` nodes are excluded already
};

/// Returns the node that the newest attempt ended at if it should be excluded; nullopt otherwise. A slow node should be
/// excluded at once; another node if at least `min_ends` attempts ended there, and at least half of all attempts that ended
/// at some node (a program that fails on any node does not exclude nodes). `ends` lists the newest attempts, oldest first;
/// nodes in `excluded` are never returned. Pure function.
std::optional<BadNode> bad_node(std::span<const NodeEnd> ends, std::span<const std::string> excluded,
                                const ExclusionRules& rules);

}  // namespace trainrt::batch
