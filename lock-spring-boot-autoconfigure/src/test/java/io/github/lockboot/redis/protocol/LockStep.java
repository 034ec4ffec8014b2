package io.github.lockboot.redis.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * One step of a random sequence. {@code who} is an index, which says of which kind the id's requests are; a negative
 * one stands for a holder of the moment. What {@code amount} means depends on the action.
 */
record LockStep(Action action, int who, int next, long amount) {

    private static final int INDEXES = 100;

    /** How many there are in a crowd. */
    static final int CROWD = 20;

    private static final int STEPS = 40;

    /** Two bits for each id: exclusive only, with readers, with permits, with all. */
    private static final long[] MIXES = {0, 0x5555_5555_5555_5555L, 0xAAAA_AAAA_AAAA_AAAAL, -1};

    /** The kind of the requests under an index. */
    static Kind kindOf(int index) {
        return switch (index / INDEXES) {
            case 0 -> Kind.EXCLUSIVE;
            case 1 -> Kind.SHARED;
            case 2 -> Kind.limitedTo(2);
            default -> Kind.limitedTo(1 + index % 5);
        };
    }

    static int index(int number, long kinds) {
        return number + INDEXES * (int) (kinds >>> 2 * number & 3);
    }

    enum Action {
        ACQUIRE(true),
        TRY(true),
        UNLOCK(true),
        UNLOCK_WITH_NEXT(true),
        RENEW(true),
        RENEW_WITH_WRONG_TOKEN(true),
        RENEW_SEVERAL(true),
        LEAVE(true),
        DOWNGRADE(true),
        KEEP(true),
        KEEP_WITH_WRONG_TOKEN(true),
        TRANSFER(true),
        TRANSFER_WITH_WRONG_NUMBER(true),
        LATE(true),
        DUPLICATE(false),
        CROWD_ARRIVES(false),
        ONE_KEEPS_POLLING(false),
        LISTENS(false),
        FORWARD(false),
        BACK(false),
        PERSIST(false),
        DELETE(false),
        REPLACE(false),
        FLUSH(false);

        final boolean isCall;

        Action(boolean isCall) {
            this.isCall = isCall;
        }
    }

    static List<LockStep> sequence(Random random) {
        int ids = random.nextInt(10) == 0 ? CROWD + 3 : 3 + random.nextInt(4);
        boolean mishaps = random.nextInt(3) > 0;
        boolean clockSteps = random.nextInt(3) == 0;
        long kinds = random.nextLong() & MIXES[random.nextInt(MIXES.length)];
        List<LockStep> steps = new ArrayList<>();
        boolean listeners = random.nextBoolean();
        for (int session = 0; listeners && session < 3; session++) {
            steps.add(new LockStep(Action.LISTENS, session, 0, random.nextInt(3)));
        }
        if (ids > CROWD) {
            steps.add(new LockStep(Action.CROWD_ARRIVES, 0, 0, kinds));
        }
        while (steps.size() < STEPS) {
            int dice = random.nextInt(100);
            int who = index(random.nextInt(ids), kinds);
            int ownerOrWho = random.nextInt(3) > 0 ? -1 - random.nextInt(4) : who;
            int next = index(random.nextInt(ids), kinds);
            if (listeners && random.nextInt(10) == 0) {
                steps.add(new LockStep(Action.LISTENS, random.nextInt(3), 0, random.nextInt(2)));
            }
            if (dice < 28) {
                steps.add(
                        new LockStep(Action.ACQUIRE, who, 0, random.nextInt(20) == 0 ? 1 + random.nextInt(2) : 1_000));
            } else if (dice < 31) {
                steps.add(new LockStep(Action.TRY, who, 0, 1_000));
            } else if (dice < 33) {
                Action action = random.nextInt(4) == 0 ? Action.KEEP_WITH_WRONG_TOKEN : Action.KEEP;
                steps.add(new LockStep(action, ownerOrWho, 0, 1 + duration(random) / 1_000));
            } else if (dice < 39) {
                Action action = random.nextInt(5) == 0 ? Action.TRANSFER_WITH_WRONG_NUMBER : Action.TRANSFER;
                steps.add(new LockStep(action, ownerOrWho, next, random.nextInt(6)));
            } else if (dice < 43) {
                steps.add(new LockStep(Action.UNLOCK, ownerOrWho, 0, random.nextInt(65_536)));
            } else if (dice < 48) {
                steps.add(new LockStep(Action.UNLOCK_WITH_NEXT, ownerOrWho, next, random.nextInt(65_536)));
            } else if (dice < 52) {
                steps.add(new LockStep(Action.RENEW_SEVERAL, who, 0, random.nextInt(8)));
            } else if (dice < 55) {
                steps.add(new LockStep(Action.RENEW, ownerOrWho, 0, random.nextInt(4) == 0 ? 500 : 0));
            } else if (dice < 57) {
                steps.add(new LockStep(Action.RENEW_WITH_WRONG_TOKEN, ownerOrWho, 0, random.nextInt(3) - 1));
            } else if (dice < 63) {
                steps.add(new LockStep(Action.LEAVE, random.nextBoolean() ? who : ownerOrWho, 0, 0));
            } else if (dice < 69) {
                steps.add(new LockStep(Action.DUPLICATE, 0, 0, 0));
            } else if (dice < 73) {
                steps.add(new LockStep(Action.LATE, 0, 0, 1 + random.nextInt(STEPS)));
            } else if (dice < 89) {
                steps.add(new LockStep(Action.FORWARD, 0, 0, duration(random)));
            } else if (dice < 92) {
                steps.add(new LockStep(Action.ONE_KEEPS_POLLING, who, 0, random.nextInt(100_000)));
            } else if (dice < 94 && clockSteps) {
                steps.add(new LockStep(Action.BACK, 0, 0, duration(random)));
            } else if (dice < 97 && kinds != 0) {
                steps.add(new LockStep(Action.DOWNGRADE, ownerOrWho, 0, random.nextInt(65_536)));
            } else if (dice >= 97 && mishaps) {
                Action[] mishap = {Action.PERSIST, Action.DELETE, Action.REPLACE, Action.FLUSH};
                steps.add(new LockStep(mishap[random.nextInt(mishap.length)], 0, 0, random.nextInt(2)));
            }
        }
        return steps;
    }

    /**
     * In microseconds: most often less than a poll, at times hours, with a liking for what the protocol counts with.
     */
    private static long duration(Random random) {
        long[] marks = {1, 1_000, 1_500, LockModel.POLL, LockModel.PATIENCE, 6_001, 30_000, 3_600_000};
        long mark = 1000 * marks[random.nextInt(marks.length)];
        return switch (random.nextInt(6)) {
            case 0 -> mark;
            case 1 -> mark - 1_000 + random.nextInt(2_000);
            default -> 1 + random.nextInt(1000 * (int) LockModel.POLL);
        };
    }
}
