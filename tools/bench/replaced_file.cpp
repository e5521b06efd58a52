#include "replaced_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace bench {
namespace {

/// As permissive as the file that is there, or as any new one.
mode_t mode_for(bool exists, const struct stat& there) {
  const mode_t mask = umask(0);
  umask(mask);
  return exists ? there.st_mode & 0777 : 0666 & ~mask;
}

}  // namespace

replaced_file::replaced_file(std::string file) : file_(std::move(file)), target_(file_) {
  struct stat there {};
  const bool exists = stat(file_.c_str(), &there) == 0;
  if (exists && !S_ISREG(there.st_mode)) {
    out_ = std::fopen(file_.c_str(), "we");
    if (out_ == nullptr) fail();
    return;
  }
  if (exists) {
    std::error_code wrong;
    if (auto real = std::filesystem::canonical(file_, wrong); !wrong) target_ = real.string();
    // Where the folder may be written, but not the file, it stays.
    if (access(target_.c_str(), W_OK) != 0) fail();
  }
  std::string beside = target_ + ".XXXXXX";
  const int fd = mkostemp(beside.data(), O_CLOEXEC);
  if (fd < 0) fail();
  beside_ = std::move(beside);
  if (fchmod(fd, mode_for(exists, there)) == 0) out_ = fdopen(fd, "w");
  if (out_ != nullptr) return;
  const int why = errno;
  close(fd);
  unlink(beside_.c_str());
  errno = why;
  fail();
}

replaced_file::~replaced_file() {
  if (out_ != nullptr) std::fclose(out_);
  if (!beside_.empty()) unlink(beside_.c_str());
}

void replaced_file::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), out_) != text.size()) fail();
}

void replaced_file::finish() {
  if (std::fclose(std::exchange(out_, nullptr)) != 0) fail();
  if (beside_.empty()) return;
  if (rename(beside_.c_str(), target_.c_str()) != 0) fail();
  beside_.clear();
}

void replaced_file::fail() const {
  throw std::system_error(errno, std::generic_category(), "cannot write " + file_);
}

std::string fault_of(const std::string& file) {
  try {
    const replaced_file tried{file};
    return {};
  } catch (const std::system_error& e) {
    return e.what();
  }
}

void replace_file(const std::string& file, std::string_view text) {
  replaced_file out{file};
  out.write(text);
  out.finish();
}

}  // namespace bench
