// SPDX-License-Identifier: Apache-2.0
// A launcher's variables are inherited, so a process that has them need not be the rank that they name.
#pragma once

#include <optional>
#include <string>

namespace chorale::bootstrap {

/// Records in the launcher's folder of this host (PMIX_SERVER_TMPDIR), which the launcher removes with the
/// job, that this process is the rank which PMIX_NAMESPACE and PMIX_RANK name. Returns nothing if it is; if
/// another process is or was that rank, a text that says so: whether the collectives of a PMIx server count a
/// second process of a rank is a matter of chance. A program that replaces that of its process by exec()
/// remains that rank. Where nothing can be recorded, every process is believed.
[[nodiscard]] std::optional<std::string> claim_rank();

/// Removes the record of this process, which has not become the rank.
void give_back_rank() noexcept;

}  // namespace chorale::bootstrap
