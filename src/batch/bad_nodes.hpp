#pragma once
#include <optional>
#include <span>
#include <string>

namespace trainrt::batch {

/// Which node an attempt ended at.
struct NodeEnd {
  int attempt = 0;
  std::string node;   ///< "" if none is to blame
  bool slow = false;  ///< it did not fail there: it held the others up, and the attempt has stopped for that
  std::string why;    ///< the attempt ended
};

/// What the config allows.
struct ExclusionRules {
  int ends = 0;        ///< of attempts, that make a node a bad one; 0: none is
  int most_nodes = 0;  ///< that are left out at a time
};

/// A node that the run is better off without.
struct BadNode {
  std::string name;
  std::string why;   ///< "3 attempts ended there (4, 5, 7)"
  bool fits = true;  ///< false: so many nodes are left out already that it has to be used
};

/// The node at which the last of `ends` happened, if it is to be left out from now on: the attempt stopped because the node
/// is slow; or so many attempts have ended there that it is a bad node, at least half of all those that ended at a node (a
/// program that fails anywhere makes none). `ends`: of the newest attempts, in order; `excluded`: the nodes that are left
/// out already. Pure.
std::optional<BadNode> bad_node(std::span<const NodeEnd> ends, std::span<const std::string> excluded,
                                const ExclusionRules& rules);

}  // namespace trainrt::batch
