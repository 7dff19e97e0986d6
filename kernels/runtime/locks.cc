#include "locks.h"

#include <algorithm>
#include <vector>

#include "os.h"

namespace hipep {
namespace {

struct Ranked {
  LockRank rank;
  std::mutex* lock;
};

struct Registry {
  std::mutex lock;
  std::vector<Ranked> locks;
};
Registry& registry() {
  static auto* one = new Registry;
  return *one;
}

std::vector<Ranked>& held() {
  static thread_local std::vector<Ranked> locks;
  return locks;
}

void before_fork() {
  {
    std::lock_guard<std::mutex> hold(registry().lock);
    held() = registry().locks;
  }
  for (const Ranked& ranked : held()) ranked.lock->lock();
  registry().lock.lock();
}

void after_fork() {
  registry().lock.unlock();
  for (const Ranked& ranked : held()) ranked.lock->unlock();
}

}  // namespace

void hold_across_fork(LockRank rank, std::mutex* lock) {
  std::lock_guard<std::mutex> hold(registry().lock);
  auto& locks = registry().locks;
  if (locks.empty()) os::around_fork(before_fork, after_fork);
  const auto at = std::upper_bound(locks.begin(), locks.end(), rank,
                                   [](LockRank wanted, const Ranked& ranked) { return wanted < ranked.rank; });
  locks.insert(at, {rank, lock});
}

}  // namespace hipep
