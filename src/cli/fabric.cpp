#include "cli/fabric.hpp"

#include <filesystem>

namespace trainrt::cli::doctor {

bool has_fabric() {
  std::error_code error;  // if the folder is not there the iterator is at its end
  return std::filesystem::directory_iterator("/sys/class/infiniband", error) != std::filesystem::directory_iterator();
}

}  // namespace trainrt::cli::doctor
