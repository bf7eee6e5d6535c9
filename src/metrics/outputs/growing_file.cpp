#include "metrics/outputs/growing_file.hpp"

namespace trainrt::metrics {

void GrowingFile::rewrite(std::string_view bytes) {
  file_.reset();
  file_.emplace(AppendFile::replace(run_dir_, name_, bytes));
}

void GrowingFile::append(std::string_view bytes) try { file_->append(bytes); } catch (...) {
  file_.reset();
  throw;
}

}  // namespace trainrt::metrics
