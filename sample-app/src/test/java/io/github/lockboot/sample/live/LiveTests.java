package io.github.lockboot.sample.live;

import java.util.List;

import com.jayway.jsonpath.JsonPath;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.sample.OnTwoInstances;
import io.github.lockboot.sample.SampleInstance;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

class LiveTests extends OnTwoInstances {

    @Test
    void aHeldLockIsShownWithItsInstanceTokenLeaseAndQueue() throws Exception {
        try (LiveStream stream = new LiveStream(one.url())) {
            NamedLock lock = one.bean(LockRegistry.class).get("price");
            lock.lock();
            try {
                two.bean(LockRegistry.class).acquireAsync("price", LockOptions.defaults());
                String path = "$.locks[?(@.name=='price')]";
                String snapshot;
                do {
                    snapshot = stream.next("snapshot");
                } while (JsonPath.<List<?>>read(snapshot, path + ".queue[0]").isEmpty());
                assertThat(JsonPath.<Object>read(snapshot, path + ".holders[0]").toString())
                        .isEqualTo("[\"" + one.bean(Instances.class).name() + "\"]");
                assertThat(JsonPath.<Object>read(snapshot, path + ".queue[0]").toString())
                        .isEqualTo("[\"" + two.bean(Instances.class).name() + "\"]");
                assertThat(JsonPath.<Object>read(snapshot, path + ".token").toString())
                        .isEqualTo("[\"" + lock.fencingToken() + "\"]");
            } finally {
                lock.unlock();
            }
        }
    }

    @Test
    void holdsOfSeveralInstancesAreShownTogetherAndHow() throws Exception {
        LockOptions five = LockOptions.defaults().withPermits(5);
        try (LiveStream stream = new LiveStream(one.url())) {
            String here = one.bean(Instances.class).name();
            String there = two.bean(Instances.class).name();
            try (Lease reader = one.bean(LockRegistry.class)
                            .acquire("prices", LockOptions.defaults().shared());
                    Lease other = two.bean(LockRegistry.class)
                            .acquire("prices", LockOptions.defaults().shared());
                    Lease permit = one.bean(LockRegistry.class).acquire("partner", five);
                    Lease second = one.bean(LockRegistry.class).acquire("partner", five);
                    Lease third = two.bean(LockRegistry.class).acquire("partner", five)) {
                assertThat(List.of(reader, other, permit, second, third)).allMatch(Lease::isValid);
                stream.next("snapshot"); // may have been taken before
                String snapshot = stream.next("snapshot");
                assertThat(JsonPath.<List<Object>>read(snapshot, "$.locks[?(@.name=='prices')]['holders','kind']"))
                        .hasToString("[{\"holders\":[\"%s\",\"%s\"],\"kind\":-1}]".formatted(here, there));
                assertThat(JsonPath.<List<Object>>read(snapshot, "$.locks[?(@.name=='partner')]['holders','kind']"))
                        .hasToString("[{\"holders\":[\"%s\",\"%s\",\"%s\"],\"kind\":5}]".formatted(here, here, there));
            }
        }
    }

    @Test
    void aLockThatIsHandedOverIsShownAsTakenByNoInstance() throws Exception {
        LockRegistry locks = one.bean(LockRegistry.class);
        String handedOver = locks.acquire("long-job").handOver();
        try (LiveStream stream = new LiveStream(two.url())) {
            stream.await("$.locks[?(@.name=='long-job')].holders[0]", List.of(""));
        }
        locks.takeOver(handedOver).close();
    }

    @Test
    void aClosedTabDoesNotEndTheBroadcast() throws Exception {
        try (LiveStream stays = new LiveStream(one.url())) {
            assertThat(stays.firstLine()).isEqualTo(":open");
            try (LiveStream closed = new LiveStream(one.url())) {
                closed.next("snapshot");
            }
            for (int i = 0; i < 8; i++) {
                stays.next("snapshot");
            }
        }
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void anOpenPageIsToldOfAnOutageAndDoesNotDelayTheEnd(CapturedOutput log) throws Exception {
        RedisServer other = RedisServer.start();
        SampleInstance sample = SampleInstance.on(other);
        try (LiveStream stream = new LiveStream(sample.url())) {
            stream.next("snapshot");
            other.kill();
            assertThat(stream.next("outage")).isEqualTo("{}");
            sample.close();
            assertThat(log).contains("Graceful shutdown complete").doesNotContain("Graceful shutdown aborted");
        } finally {
            sample.close();
            other.close();
        }
    }
}
