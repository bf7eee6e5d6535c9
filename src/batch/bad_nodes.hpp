#pragma once
#include <optional>
#include <span>
#include <string>

namespace trainrt::batch {

/// The node that caused the end of one attempt of a run.
struct NodeEnd {
  int attempt = 0;
  std::string node;   ///< name of the node; "" if no node is to blame
  bool slow = false;  ///< true if the attempt stopped because the node slowed the others down, without a failure
  std::string why;    ///< why the attempt ended, as a phrase for messages
};

/// The config's rules for the exclusion of nodes from later attempts.
struct ExclusionRules {
  int min_ends = 0;   ///< number of attempts that must end because of a node before that node is excluded; 0: never exclude
  int max_nodes = 0;  ///< maximum number of excluded nodes at a time
};

/// A node that the run should avoid in later attempts.
struct BadNode {
  std::string name;
  std::string why;          ///< reason for messages: "3 attempts ended there (4, 5, 7)", with the attempt numbers
  bool can_exclude = true;  ///< false if the maximum number of nodes is excluded already
};

/// Returns the node that caused the end of the newest attempt if the node should be excluded; nullopt otherwise. Pure
/// function.
/// - A slow node should be excluded at once.
/// - Another node should be excluded if it ended at least `min_ends` attempts, and at least half of all attempts that a
///   node ended. A program that fails on any node therefore does not exclude nodes.
///
/// `ends` lists the newest attempts of the run, oldest first. Nodes in `excluded` are never returned.
std::optional<BadNode> bad_node(std::span<const NodeEnd> ends, std::span<const std::string> excluded,
                                const ExclusionRules& rules);

}  // namespace trainrt::batch
