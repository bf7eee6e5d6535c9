#include "trainer/records/loaded_libraries.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/process/processes.hpp"

namespace trainrt::trainer {

namespace {

/// Pairs of the beginning of a library's file name, without "lib", and the name of the library in messages. The first
/// pair that matches a file applies.
constexpr std::array<std::pair<std::string_view, std::string_view>, 35> known_libraries = {{
    {"openblas", "OpenBLAS"},
    {"scipy_openblas", "OpenBLAS"},
    {"flexiblas", "FlexiBLAS"},
    {"blis.", "BLIS"},
    {"blis-", "BLIS"},
    {"sci_", "Cray LibSci"},
    {"armpl", "Arm Performance Libraries"},
    {"nvpl", "NVPL"},
    {"blas.", "BLAS"},
    {"lapack.", "LAPACK"},
    {"mkl_core", "MKL"},
    {"mkl_rt", "MKL"},
    {"dnnl.", "oneDNN"},
    {"gomp", "GNU OpenMP"},
    {"iomp5", "Intel OpenMP"},
    {"omp.", "LLVM OpenMP"},
    {"m.so", "C math library"},
    {"m-2.", "C math library"},  // libm-2.28.so: glibc before 2.34
    {"mvec.", "C vector math library"},
    {"mvec-2.", "C vector math library"},
    {"_multiarray_umath", "NumPy"},
    {"torch_cpu.", "PyTorch"},
    {"torch_cuda.", "PyTorch for CUDA"},
    {"tensorflow_cc.", "TensorFlow"},
    {"tensorflow_framework.", "TensorFlow"},
    {"_jax.", "JAX"},
    {"xla_extension.", "JAX"},
    {"xgboost.", "XGBoost"},
    {"_lightgbm.", "LightGBM"},
    {"cublas", "cuBLAS"},
    {"cudnn", "cuDNN"},
    {"cudart.", "CUDA runtime"},
    {"cudart-", "CUDA runtime"},
    {"cufft.", "cuFFT"},
    {"nccl.", "NCCL"},
}};

std::string_view library_of(std::string_view path) {
  auto name = path.substr(path.rfind('/') + 1);
  if (name.find(".so") == std::string_view::npos) return {};
  if (name.starts_with("lib")) name.remove_prefix(3);
  for (const auto& [prefix, library] : known_libraries)
    if (name.starts_with(prefix)) return library;
  return {};
}

/// Returns the content of the file. If the file cannot be read, such as the maps of a process that ends, returns what
/// was read so far, or "".
std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

template <class Value>
bool read_at(std::istream& file, std::uint64_t at, Value& value) {
  return static_cast<bool>(file.seekg(static_cast<std::streamoff>(at)).read(reinterpret_cast<char*>(&value), sizeof value));
}

/// Returns the GNU build ID in the notes of a program header, as hexadecimal digits; "" if there is none.
std::string build_id_in(std::istream& file, const Elf64_Phdr& notes) {
  constexpr std::uint64_t max_bytes = 1 << 16;
  constexpr std::size_t shown_bytes = 6;
  const auto padded = [](std::uint64_t bytes) { return (bytes + 3) / 4 * 4; };
  const auto end = notes.p_offset + std::min<std::uint64_t>(notes.p_filesz, max_bytes);
  for (auto at = notes.p_offset; at + sizeof(Elf64_Nhdr) <= end;) {
    Elf64_Nhdr note{};
    if (!read_at(file, at, note)) break;
    const auto content = at + sizeof note + padded(note.n_namesz);
    if (std::array<std::uint8_t, shown_bytes> id{};
        note.n_type == NT_GNU_BUILD_ID && note.n_descsz >= id.size() && read_at(file, content, id))
      return fmt::format("{:02x}", fmt::join(id, ""));
    at = content + padded(note.n_descsz);
  }
  return {};
}

std::string build_id_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!read_at(file, 0, header) || std::string_view(reinterpret_cast<const char*>(header.e_ident), SELFMAG) != ELFMAG ||
      header.e_ident[EI_CLASS] != ELFCLASS64)
    return {};
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_at(file, header.e_phoff + i * header.e_phentsize, segment)) break;
    if (segment.p_type != PT_NOTE) continue;
    if (auto id = build_id_in(file, segment); !id.empty()) return id;
  }
  return {};
}

}  // namespace

std::map<std::string, std::string> libraries_in_maps(std::string_view maps) {
  std::map<std::string, std::string> found;
  while (!maps.empty()) {
    const auto line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    const auto path = line.find('/');
    if (path == std::string_view::npos) continue;
    if (const auto library = library_of(line.substr(path)); !library.empty()) found.emplace(line.substr(path), library);
  }
  return found;
}

std::string build_of_library(const std::string& path, const std::string& root) {
  const auto name = path.substr(path.rfind('/') + 1);
  if (const auto id = build_id_of(root + path); !id.empty()) return fmt::format("{} (build {})", name, id);
  std::error_code error;
  const auto bytes = std::filesystem::file_size(root + path, error);
  return error ? name : fmt::format("{} ({} bytes)", name, bytes);
}

namespace {

/// Returns, for each process, the known libraries that it has loaded according to /proc/PID/maps. The processes are
/// this process and the programs that it has started, also through a shell. Commands that such a program has started
/// are left out.
std::map<pid_t, std::map<std::string, std::string>> libraries_of_programs() {
  std::map<pid_t, std::map<std::string, std::string>> found;
  std::set<pid_t> ended;  // processes whose children are left out
  for (const auto process : process_tree(getpid())) {
    const auto family = kinship(process);
    if (process != getpid() && (!family || ended.contains(family->parent))) {
      ended.insert(process);
      continue;
    }
    auto libraries = libraries_in_maps(content_of(fmt::format("/proc/{}/maps", process)));
    if (libraries.empty()) continue;
    found[process] = std::move(libraries);
    if (process != getpid()) ended.insert(process);
  }
  return found;
}

}  // namespace

Libraries loaded_libraries() {
  std::map<std::string, std::set<std::string>> builds;
  std::set<std::string> seen;
  for (const auto& [process, files] : libraries_of_programs()) {
    const auto root = process == getpid() ? std::string() : fmt::format("/proc/{}/root", process);
    for (const auto& [path, library] : files)
      if (seen.insert(path).second) builds[library].insert(build_of_library(path, root));
  }
  Libraries libraries;
  for (const auto& [library, texts] : builds) libraries[library] = fmt::format("{}", fmt::join(texts, ", "));
  return libraries;
}

}  // namespace trainrt::trainer
