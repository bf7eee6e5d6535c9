#include "io/hdf5/h5_members.hpp"

#include <algorithm>
#include <set>

#include <trainrt/error.hpp>

namespace trainrt::io {

namespace {

constexpr int max_depth = 64;

/// Returns the names of all members (links) of a group, sorted.
std::vector<std::string> link_names(hid_t group) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  h5_check(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names), "list a group");
  return names;
}

bool is_hard_link(hid_t group, const std::string& name) {
  H5L_info_t link{};
  h5_check(H5Lget_info(group, name.c_str(), &link, H5P_DEFAULT), "read the link '" + name + "'");
  return link.type == H5L_TYPE_HARD;
}

class MemberWalk {
 public:
  void group(hid_t id, const std::string& prefix, int depth) {
    H5O_info_t info{};
    h5_check(H5Oget_info(id, &info), "read group '" + prefix + "'");
    if (!seen_.insert(info.addr).second) return;  // already visited: hard links may form cycles
    for (const auto& name : link_names(id)) member(id, name, prefix + name, depth);
  }
  H5Members members;

 private:
  void member(hid_t parent, const std::string& name, const std::string& path, int depth) {
    if (!is_hard_link(parent, name)) {
      members.ignored.emplace_back(path, "it is a soft or external link");
      return;
    }
    const H5Id object(H5Oopen(parent, name.c_str(), H5P_DEFAULT), H5Oclose, "open '" + path + "'");
    const auto kind = H5Iget_type(object);
    if (kind == H5I_DATASET) members.datasets.push_back(path);
    if (kind != H5I_GROUP) return;
    if (depth == max_depth) throw Error("'" + path + "' is nested in more than " + std::to_string(max_depth) + " groups");
    group(object, path + "/", depth + 1);
  }

  std::set<haddr_t> seen_;
};

class TreeWalk {
 public:
  TreeWalk(const H5Visit& visit, const H5Broken& broken) : visit_(visit), broken_(broken) {}

  void group(const std::string& path, hid_t id) {
    H5O_info_t info{};
    h5_check(H5Oget_info(id, &info), "read group '" + path + "'");
    // A group is visited only once, because hard links of HDF5 may form cycles.
    if (!seen_.insert(info.addr).second) return broken_(path, "is a second name of a group");
    visit_(path, id);
    for (const auto& name : link_names(id)) member(id, name, path == "/" ? "/" + name : path + "/" + name);
  }

 private:
  void member(hid_t parent, const std::string& name, const std::string& path) {
    try {
      H5L_info_t link{};
      h5_check(H5Lget_info(parent, name.c_str(), &link, H5P_DEFAULT), "read the link '" + path + "'");
      if (link.type == H5L_TYPE_SOFT) return broken_(path, "is a soft link");
      H5Id object(H5Oopen(parent, name.c_str(), H5P_DEFAULT), H5Oclose, "open '" + path + "'");
      const auto kind = H5Iget_type(object);
      if (kind == H5I_DATASET) return visit_(path, object);
      if (kind == H5I_GROUP && link.type == H5L_TYPE_HARD) return group(path, object);
      broken_(path, "is neither a dataset nor a group of this file");
    } catch (const Error& error) {
      broken_(path, error.what());
    }
  }

  const H5Visit& visit_;
  const H5Broken& broken_;
  std::set<haddr_t> seen_;
};

}  // namespace

H5Members h5_members(hid_t group) {
  const auto lock = h5_lock();
  MemberWalk walk;
  walk.group(group, "", 0);
  std::sort(walk.members.datasets.begin(), walk.members.datasets.end());
  return std::move(walk.members);
}

H5Id h5_open_group(hid_t file, const std::string& path) {
  const auto lock = h5_lock();
  H5Id group(H5Gopen2(file, ".", H5P_DEFAULT), H5Gclose, "open the group '/'");
  for (std::size_t at = 0; at < path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    const auto step = path.substr(at, end - at);
    at = end + 1;
    if (step.empty()) continue;
    if (!is_hard_link(group, step)) throw Error("'" + step + "' of '" + path + "' is a soft or external link");
    group = H5Id(H5Gopen2(group, step.c_str(), H5P_DEFAULT), H5Gclose, "open the group '" + path + "'");
  }
  return group;
}

H5Id h5_open_dataset(hid_t parent, const std::string& path) {
  const auto lock = h5_lock();
  const auto cut = path.rfind('/');
  const auto name = path.substr(cut == std::string::npos ? 0 : cut + 1);
  const auto group = h5_open_group(parent, path.substr(0, path.size() - name.size()));
  if (!is_hard_link(group, name)) throw Error("'" + path + "' is a soft or external link");
  return H5Id(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose, "open dataset '" + path + "'");
}

void h5_walk(hid_t file, const H5Visit& visit, const H5Broken& broken) {
  const auto lock = h5_lock();
  H5Id root(H5Oopen(file, "/", H5P_DEFAULT), H5Oclose, "open '/'");
  TreeWalk(visit, broken).group("/", root);
}

}  // namespace trainrt::io
