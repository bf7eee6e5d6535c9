#include "core/process/symbols.hpp"

#include <cstdint>
#include <cstring>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace trainrt {

namespace {

constexpr std::uintptr_t page = 4096;

/// A read-only mapping of a file into memory; empty if the file cannot be mapped. Allocates no memory.
class Mapped {
 public:
  explicit Mapped(const char* path) noexcept {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    struct stat status {};
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
      void* const memory = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
      if (memory != MAP_FAILED) {
        data_ = static_cast<const std::byte*>(memory);
        size_ = static_cast<std::size_t>(status.st_size);
      }
    }
    close(fd);
  }
  ~Mapped() {
    if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
  }
  Mapped(const Mapped&) = delete;

  /// Returns a pointer to `count` objects of type T at the byte offset `offset` of the file; nullptr if the file is too
  /// short.
  template <class T>
  const T* at(std::uint64_t offset, std::uint64_t count = 1) const noexcept {
    if (data_ == nullptr || offset > size_ || count > (size_ - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(data_ + offset);
  }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

void copy_name(char (&to)[512], const char* from) noexcept {
  const auto length = strnlen(from, sizeof to - 1);
  std::memcpy(to, from, length);
  to[length] = '\0';
}

bool covers(const ElfW(Sym) & entry, std::uintptr_t address) noexcept {
  return ELF64_ST_TYPE(entry.st_info) == STT_FUNC && entry.st_shndx != SHN_UNDEF && entry.st_value <= address &&
         address - entry.st_value < entry.st_size;
}

/// Searches the ELF symbol section `table` for the function that contains `address`, an address relative to the file.
/// The section `names` has the names of the functions. Returns whether a function was found; if so, fills `symbol`.
bool find_in_table(const Mapped& file, const ElfW(Shdr) & table, const ElfW(Shdr) & names, std::uintptr_t address,
                   Symbol& symbol) noexcept {
  const auto count = table.sh_size / sizeof(ElfW(Sym));
  const auto* entries = file.at<ElfW(Sym)>(table.sh_offset, count);
  const auto* texts = file.at<char>(names.sh_offset, names.sh_size);
  if (entries == nullptr || texts == nullptr) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (!covers(entries[i], address) || entries[i].st_name >= names.sh_size) continue;
    copy_name(symbol.name, texts + entries[i].st_name);
    symbol.offset = address - entries[i].st_value;
    return true;
  }
  return false;
}

/// Finds the function that contains `address` in the symbol tables of the ELF file `path`, which is loaded at the address
/// `base`. Returns whether a function was found, and fills `symbol` then.
bool find_in_file(const char* path, std::uintptr_t base, std::uintptr_t address, Symbol& symbol) noexcept {
  const Mapped file(path);
  const auto* header = file.at<ElfW(Ehdr)>(0);
  if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return false;
  const auto* sections = file.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
  if (sections == nullptr) return false;
  const auto in_file = header->e_type == ET_EXEC ? address : address - base;
  for (std::size_t i = 0; i < header->e_shnum; ++i)
    if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < header->e_shnum &&
        find_in_table(file, sections[i], sections[sections[i].sh_link], in_file, symbol))
      return true;
  return false;
}

/// Returns the path of the program or library that `info` describes. For the program itself the loader uses argv[0], which
/// need not be a path, so /proc/self/exe is returned.
const char* path_of(const Dl_info& info) noexcept {
  const auto base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  return getauxval(AT_PHDR) / page * page == base ? "/proc/self/exe" : info.dli_fname;
}

}  // namespace

void find_symbol(const void* address, Symbol& symbol) noexcept {
  symbol.name[0] = '\0';
  symbol.offset = 0;
  symbol.file = nullptr;
  Dl_info info{};
  if (dladdr(address, &info) == 0) return;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  symbol.file = info.dli_fname;
  symbol.offset = at - base;
  if (find_in_file(path_of(info), base, at, symbol) || info.dli_sname == nullptr) return;
  copy_name(symbol.name, info.dli_sname);
  symbol.offset = at - reinterpret_cast<std::uintptr_t>(info.dli_saddr);
}

}  // namespace trainrt
