#include "metrics/growing_file.hpp"

namespace trainrt::metrics {

void GrowingFile::write_anew(std::string_view bytes) {
  file_.reset();
  run_dir_.write_temporary(name_, bytes);
  AppendFile file(run_dir_.temporary_path(name_));  // before it is moved: a newer attempt may put its own in that place
  run_dir_.publish(name_);
  file_.emplace(std::move(file));
}

void GrowingFile::append(std::string_view bytes) try { file_->append(bytes); } catch (...) {
  file_.reset();
  throw;
}

}  // namespace trainrt::metrics
