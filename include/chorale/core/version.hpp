// SPDX-License-Identifier: Apache-2.0
// The version of these headers.
#pragma once

/// The parts of the version, for `#if`: "Versions" in CONTRIBUTING.md says what each of them means.
#define CHORALE_VERSION_MAJOR 0
/// The middle part.
#define CHORALE_VERSION_MINOR 1
/// The last part.
#define CHORALE_VERSION_PATCH 0
/// Grows with each version: `#if CHORALE_VERSION >= 10200` is true from 1.2.0 on.
#define CHORALE_VERSION (CHORALE_VERSION_MAJOR * 10000 + CHORALE_VERSION_MINOR * 100 + CHORALE_VERSION_PATCH)
