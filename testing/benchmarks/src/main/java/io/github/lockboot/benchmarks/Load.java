package io.github.lockboot.benchmarks;

/**
 * What one process does in a round: so many threads lock and unlock, nothing in between. In its k-th turn thread t takes the
 * name t + k * threads, modulo the number of names.
 */
record Load(int threads, int names, int holds, boolean isVirtual) {

    static Load threads(int threads) {
        return new Load(threads, 1, 1, false);
    }

    Load onNames(int count) {
        return new Load(threads, count, holds, isVirtual);
    }

    Load holding(int times) {
        return new Load(threads, names, times, isVirtual);
    }

    Load virtual() {
        return new Load(threads, names, holds, true);
    }
}
