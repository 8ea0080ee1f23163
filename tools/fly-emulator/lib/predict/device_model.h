// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flyemu {

/// A device as the time model sees it: published facts, and constants that were fitted to published
/// timings (docs/emulator/prediction.md says which, and how). Cycles are of the shader clock.
struct DeviceModel {
  const char *name;
  const char *arch;
  // Published (device_facts.inc). A unit is a compute unit of CDNA or a workgroup processor of
  // RDNA.
  double units;
  double xcds;
  double clockGHz;    ///< boost
  double issueCycles; ///< between two instructions of a wave
  double ports;       ///< of a unit: to LDS, and vector caches
  double l1Bytes;     ///< vector caches of a unit
  double l1Ways;
  double l1LanesPerClock;   ///< of a port
  double l1BytesPerClock;   ///< of a port
  double unitBytesPerClock; ///< that a unit takes from L2
  double l2Bytes;           ///< of an XCD
  double l2Ways;
  double l2BytesPerClock; ///< of an XCD
  double mallBytes;       ///< Infinity Cache
  double mallGBs;
  double hbmGBs;        ///< of memory: HBM or GDDR
  double matrix16Flops; ///< of a SIMD and clock, at most: dense products of elements of 16 bits
  double matrix8Flops;  ///< of 8 bits
  double codeBytes;     ///< instruction cache that the unit's waves fetch from
  double codeWays;
  // Fitted; each within the range that measurements by others leave.
  double l1Latency;     ///< cycles, hit
  double l2Latency;     ///< cycles, hit
  double mallLatencyNs; ///< hit
  double hbmLatencyNs;
  double ldsLatency;    ///< cycles, of the first data
  double scalarLatency; ///< cycles, hit in the scalar cache
  double hbmEfficiency; ///< share of the peak that streams reach
  double l2Efficiency;  ///< share of the peak that misses of L1 reach
  double atomicCycles;  ///< of an L2 channel, for a line of atomics
  double launchNs; ///< from the begin of the kernel to its first wave, and from its last to the end
  double codeCycles;    ///< that a wave waits for a line of code which the instruction cache lacks
  double groupCycles;   ///< from the end of a workgroup to the first instruction of the next
  double throttle;      ///< share of the clock that is lost when all matrix units are busy
  double loadedLatency; ///< by what share HBM's latency grows when its bandwidth is used up
  /// How far workgroups that began together come apart in a round: a share of their time. Rounds
  /// add up as a random walk does.
  double drift;
};

/// All devices.
const std::vector<DeviceModel> &deviceModels();

/// A device by its name ("MI300X"), or the best known one of an architecture ("gfx942"). Null for
/// others.
const DeviceModel *findDeviceModel(const std::string &nameOrArch);

/// "MI300X, MI325X, MI355X, RX 7900 XTX, RX 9070 XT"
std::string deviceModelNames();

/// All published facts with their sources, and each device's fitted constants, as JSON.
std::string deviceModelsJson();

/// Set a constant by its name (calibration). False for a name that there is none of.
bool setParameter(DeviceModel &device, const std::string &name, double value);

/// The relative error within which nine of ten calibrated timings of kernels with this bound lie
/// (Prediction::bound); wider where the device has few of them, or none.
double calibratedError(const DeviceModel &device, const std::string &bound);

/// Names and values of the fitted constants.
std::vector<std::pair<std::string, double>> fittedParameters(const DeviceModel &device);

} // namespace flyemu
