#include "io/hdf5/h5_members.hpp"

#include <algorithm>
#include <set>

#include <trainrt/error.hpp>

namespace trainrt::io {

namespace {

constexpr int deepest_group = 64;

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
  h5_check(H5Lget_info(group, name.c_str(), &link, H5P_DEFAULT), "find '" + name + "'");
  return link.type == H5L_TYPE_HARD;
}

class MemberWalk {
 public:
  void group(hid_t id, const std::string& prefix, int depth) {
    H5O_info_t info{};
    h5_check(H5Oget_info(id, &info), "look at group '" + prefix + "'");
    if (!seen_.insert(info.addr).second) return;  // hard links can make circles
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
    if (depth == deepest_group) throw Error("the groups above '" + path + "' are too many");
    group(object, path + "/", depth + 1);
  }

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

}  // namespace trainrt::io
