// SPDX-License-Identifier: Apache-2.0
#include "predict/device_model.h"

#include <cstring>

#include "support/format.h"

namespace flyemu {
namespace {

struct Field {
  const char *name;
  double DeviceModel::*member;
};

constexpr Field kFitted[] = {
    {"l1_latency", &DeviceModel::l1Latency},
    {"l2_latency", &DeviceModel::l2Latency},
    {"mall_latency_ns", &DeviceModel::mallLatencyNs},
    {"hbm_latency_ns", &DeviceModel::hbmLatencyNs},
    {"lds_latency", &DeviceModel::ldsLatency},
    {"scalar_latency", &DeviceModel::scalarLatency},
    {"hbm_efficiency", &DeviceModel::hbmEfficiency},
    {"l2_efficiency", &DeviceModel::l2Efficiency},
    {"atomic_cycles", &DeviceModel::atomicCycles},
    {"launch_ns", &DeviceModel::launchNs},
    {"code_cycles", &DeviceModel::codeCycles},
    {"group_cycles", &DeviceModel::groupCycles},
    {"throttle", &DeviceModel::throttle},
    {"loaded_latency", &DeviceModel::loadedLatency},
    {"drift", &DeviceModel::drift},
};

constexpr Field kPublished[] = {
    {"units", &DeviceModel::units},
    {"xcds", &DeviceModel::xcds},
    {"clock_ghz", &DeviceModel::clockGHz},
    {"issue_cycles", &DeviceModel::issueCycles},
    {"ports", &DeviceModel::ports},
    {"l1_bytes", &DeviceModel::l1Bytes},
    {"l1_ways", &DeviceModel::l1Ways},
    {"l1_lanes_per_clock", &DeviceModel::l1LanesPerClock},
    {"l1_bytes_per_clock", &DeviceModel::l1BytesPerClock},
    {"unit_bytes_per_clock", &DeviceModel::unitBytesPerClock},
    {"l2_bytes", &DeviceModel::l2Bytes},
    {"l2_ways", &DeviceModel::l2Ways},
    {"l2_bytes_per_clock", &DeviceModel::l2BytesPerClock},
    {"mall_bytes", &DeviceModel::mallBytes},
    {"mall_gbs", &DeviceModel::mallGBs},
    {"hbm_gbs", &DeviceModel::hbmGBs},
    {"matrix16_flops_per_clock", &DeviceModel::matrix16Flops},
    {"matrix8_flops_per_clock", &DeviceModel::matrix8Flops},
    {"code_bytes", &DeviceModel::codeBytes},
    {"code_ways", &DeviceModel::codeWays},
};

struct Fact {
  const char *devices; ///< separated by '|'
  const char *name;
  double value;
  const char *source;

  bool isOf(const char *device) const {
    const std::string list = std::string("|") + devices + "|";
    return list.find(std::string("|") + device + "|") != std::string::npos;
  }
};

constexpr Fact kFacts[] = {
#define FACT(devices, name, value, source) {devices, name, value, source},
#include "predict/device_facts.inc"
#undef FACT
};

/// The fact of that name about a device; null if the table lacks it.
const Fact *findFact(const char *device, const char *name) {
  for (const Fact &fact : kFacts)
    if (std::strcmp(fact.name, name) == 0 && fact.isOf(device))
      return &fact;
  return nullptr;
}

DeviceModel published(const char *name, const char *arch) {
  DeviceModel d = {};
  d.name = name;
  d.arch = arch;
  for (const Field &field : kPublished)
    d.*field.member = findFact(name, field.name)->value;
  return d;
}

/// The constants that all devices have in common, fitted by tools/bench/time_model.py.
DeviceModel fitted(const char *name, const char *arch) {
  DeviceModel d = published(name, arch);
  d.l2Efficiency = 0.74;
  d.atomicCycles = 24;
  d.launchNs = 2650;
  d.codeCycles = 20;
  d.groupCycles = 290;
  d.loadedLatency = 0.5;
  d.drift = 0.015;
  return d;
}

DeviceModel instinct(const char *name, const char *arch) {
  DeviceModel d = fitted(name, arch);
  d.l1Latency = 123;
  d.l2Latency = 470;
  d.mallLatencyNs = 250;
  d.ldsLatency = 81;
  d.scalarLatency = 136;
  return d;
}

/// What was fitted to MI325X, and is taken for MI300X too: it has the same chiplets, and its memory
/// is slower.
DeviceModel cdna3(const char *name) {
  DeviceModel d = instinct(name, "gfx942");
  d.hbmLatencyNs = 410;
  d.hbmEfficiency = 0.66;
  d.throttle = 0.41;
  return d;
}

/// What was fitted to MI355X.
DeviceModel cdna4(const char *name) {
  DeviceModel d = instinct(name, "gfx950");
  d.hbmLatencyNs = 310;
  d.hbmEfficiency = 0.70;
  d.l2Efficiency = 0.7;
  d.throttle = 0.45;
  return d;
}

/// Latencies are assumed, of the size that microbenchmarks of RDNA by others have; the share of
/// GDDR6's peak is fitted to two streams on a gfx1201. Under full load the clock is the published
/// game frequency, 2.4 GHz of RX 9070 XT's 2.97.
DeviceModel radeon(const char *name, const char *arch) {
  DeviceModel d = fitted(name, arch);
  d.l1Latency = 100;
  d.l2Latency = 290;
  d.mallLatencyNs = 150;
  d.hbmLatencyNs = 260;
  d.ldsLatency = 50;
  d.scalarLatency = 60;
  d.hbmEfficiency = 0.8;
  d.throttle = 0.19;
  return d;
}

std::vector<DeviceModel> makeModels() {
  return {cdna3("MI300X"),
          cdna3("MI325X"),
          cdna4("MI355X"),
          radeon("RX 7900 XTX", "gfx1100"),
          radeon("RX 9070 XT", "gfx1201"),
          radeon("gfx1250", "gfx1250")};
}

} // namespace

const std::vector<DeviceModel> &deviceModels() {
  static const std::vector<DeviceModel> models = makeModels();
  return models;
}

const DeviceModel *findDeviceModel(const std::string &nameOrArch) {
  for (const DeviceModel &model : deviceModels())
    if (nameOrArch == model.name || nameOrArch == model.arch)
      return &model;
  return nullptr;
}

std::string deviceModelNames() {
  std::string names;
  for (const DeviceModel &model : deviceModels())
    names += (names.empty() ? "" : ", ") + std::string(model.name);
  return names;
}

std::string deviceModelsJson() {
  std::string out = "{";
  for (const DeviceModel &model : deviceModels()) {
    out += (out.size() > 1 ? ", " : "") + jsonString(model.name) +
           ": {\"arch\": " + jsonString(model.arch) + ", \"facts\": {";
    for (const Field &field : kPublished) {
      const Fact &fact = *findFact(model.name, field.name);
      out += (&field == kPublished ? "" : ", ") + jsonString(field.name) +
             format(": {\"value\": %.10g, \"source\": ", fact.value) + jsonString(fact.source) +
             "}";
    }
    out += "}, \"constants\": {";
    for (const Field &field : kFitted)
      out += (&field == kFitted ? "" : ", ") + jsonString(field.name) +
             format(": %.6g", model.*field.member);
    out += "}}";
  }
  return out + "}";
}

bool setParameter(DeviceModel &device, const std::string &name, double value) {
  for (const Field &field : kFitted)
    if (name == field.name) {
      device.*field.member = value;
      return true;
    }
  return false;
}

double calibratedError(const DeviceModel &device, const std::string &bound) {
  // What tools/bench/time_model.py prints by bound, no less than for families left out of the fit;
  // bounds with few timings have the widest bar. See docs/emulator/prediction.md.
  constexpr std::pair<const char *, double> kErrors[] = {
      {"l2", 0.2}, {"hbm", 0.35}, {"latency", 0.25}, {"matrix", 0.15}};
  constexpr double kOther = 0.35;
  constexpr double kUncalibrated = 0.6; // no timing of its architecture
  if (std::strcmp(device.arch, "gfx1100") == 0 || std::strcmp(device.arch, "gfx1250") == 0)
    return kUncalibrated;
  if (std::strcmp(device.arch, "gfx1201") == 0) // four timings
    return kOther;
  for (const auto &[name, error] : kErrors)
    if (bound == name)
      return error;
  return kOther;
}

std::vector<std::pair<std::string, double>> fittedParameters(const DeviceModel &device) {
  std::vector<std::pair<std::string, double>> out;
  for (const Field &field : kFitted)
    out.emplace_back(field.name, device.*field.member);
  return out;
}

} // namespace flyemu
