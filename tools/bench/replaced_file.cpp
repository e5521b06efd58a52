// SPDX-License-Identifier: Apache-2.0
#include "replaced_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "../../lib/core/files.hpp"
#include "../../lib/core/printable.hpp"

namespace bench {
namespace {

namespace detail = chorale::detail;

/// The permissions of the existing file, or those of a new file.
mode_t mode_for(bool exists, const struct stat& there) {
  const mode_t mask = umask(0);
  umask(mask);
  return exists ? there.st_mode & 0777 : 0666 & ~mask;
}

}  // namespace

replaced_file::replaced_file(std::string file) : file_(std::move(file)) {
  try {
    open();
  } catch (const detail::file_refusal& refused) {
    throw std::system_error(refused.errnum(), std::generic_category(),
                            "cannot write " + refused.about(file_));
  }
}

void replaced_file::open() {
  at_ = detail::place_of(file_);
  struct stat there {};
  const bool exists = fstatat(at_.folder.get(), at_.name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0;
  if (at_.is_descriptor || (exists && !S_ISREG(there.st_mode))) {
    detail::unique_fd file = detail::open_to_write(at_, O_WRONLY | O_APPEND, detail::writes::anything);
    // From here on, writes may wait for the reader of a pipe.
    if (fcntl(file.get(), F_SETFL, O_APPEND) != 0) fail();
    out_ = fdopen(file.get(), "w");
    if (out_ == nullptr) fail();
    file.release();
    return;
  }
  // Do not replace a file that is not writable, even if the folder is.
  if (exists) static_cast<void>(detail::open_to_write(at_, O_WRONLY));
  auto [file, beside] = detail::create_beside(at_);
  beside_ = std::move(beside);
  if (fchmod(file.get(), mode_for(exists, there)) == 0) out_ = fdopen(file.get(), "w");
  if (out_ != nullptr) {
    file.release();
    return;
  }
  const int why = errno;
  remove_beside();
  errno = why;
  fail();
}

replaced_file::~replaced_file() {
  if (out_ != nullptr) std::fclose(out_);
  remove_beside();
}

void replaced_file::remove_beside() noexcept {
  if (!beside_.empty()) unlinkat(at_.folder.get(), beside_.c_str(), 0);
  beside_.clear();
}

void replaced_file::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), out_) != text.size()) fail();
}

void replaced_file::finish() {
  if (std::fclose(std::exchange(out_, nullptr)) != 0) fail();
  if (beside_.empty()) return;
  if (renameat(at_.folder.get(), beside_.c_str(), at_.folder.get(), at_.name.c_str()) != 0) fail();
  beside_.clear();
}

void replaced_file::fail() const {
  throw std::system_error(errno, std::generic_category(), "cannot write " + chorale::printable(file_));
}

void check_file(const std::string& file) {
  struct stat there {};
  if (stat(file.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) return;
  const replaced_file tried{file};
}

void replace_file(const std::string& file, std::string_view text) {
  replaced_file out{file};
  out.write(text);
  out.finish();
}

}  // namespace bench
