#include <set>
#include <trainrt/error.hpp>

#include "io/hdf5/h5_types.hpp"

namespace trainrt::io {

namespace {

std::vector<std::string> member_names(hid_t group) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  h5_check(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names), "list a group");
  return names;
}

class Walk {
 public:
  Walk(const std::function<void(const std::string&, hid_t)>& visit,
       const std::function<void(const std::string&, const std::string&)>& broken)
      : visit_(visit), broken_(broken) {}

  void group(const std::string& path, hid_t id) {
    H5O_info_t info{};
    h5_check(H5Oget_info(id, &info), "look at group '" + path + "'");
    // Hard links can make circles.
    if (!seen_.insert(info.addr).second) return broken_(path, "is a second name of a group");
    visit_(path, id);
    for (const auto& name : member_names(id)) member(id, name, path == "/" ? "/" + name : path + "/" + name);
  }

 private:
  void member(hid_t parent, const std::string& name, const std::string& path) {
    try {
      H5L_info_t link{};
      h5_check(H5Lget_info(parent, name.c_str(), &link, H5P_DEFAULT), "look at '" + path + "'");
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

  const std::function<void(const std::string&, hid_t)>& visit_;
  const std::function<void(const std::string&, const std::string&)>& broken_;
  std::set<haddr_t> seen_;
};

}  // namespace

void h5_walk(hid_t file, const std::function<void(const std::string&, hid_t)>& visit,
             const std::function<void(const std::string&, const std::string&)>& broken) {
  const auto lock = h5_lock();
  H5Id root(H5Oopen(file, "/", H5P_DEFAULT), H5Oclose, "open '/'");
  Walk(visit, broken).group("/", root);
}

}  // namespace trainrt::io
