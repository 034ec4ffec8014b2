package org.example.docs;

import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockOptions;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Service;

import static org.assertj.core.api.Assertions.assertThat;

/** What docs/recipes.md shows of a long holder that lets others in. */
class LongHolderTests extends OnRedis {

    @Autowired
    private CatalogImport imports;

    @Test
    void anotherInstanceHasItsTurnBetweenTwoChunks() throws Exception {
        CompletableFuture<Boolean> turn = new CompletableFuture<>();
        Iterator<String> chunks = new Iterator<>() {

            private boolean begun;

            @Override
            public boolean hasNext() {
                return !turn.isDone();
            }

            @Override
            public String next() {
                if (!begun) {
                    begun = true;
                    anotherInstance()
                            .acquireAsync("catalog", LockOptions.defaults())
                            .thenAccept(lease -> turn.complete(used(lease)));
                }
                return "a chunk";
            }
        };
        imports.importAll(chunks);
        assertThat(turn.get(60, TimeUnit.SECONDS)).isTrue();
        assertThat(registry.get("catalog").isLocked()).isFalse();
    }

    private static boolean used(Lease lease) {
        try (lease) {
            return lease.isValid();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(CatalogImport.class)
    static class Application {}
}

// tag::import
@Service
class CatalogImport {

    @DistributedLock(name = "catalog", waitTime = "1m")
    public void importAll(Iterator<String> chunks) {
        while (chunks.hasNext()) {
            write(chunks.next());
            LockContext.current().yieldIfOthersWait(); // an instance that waits to read has its turn
        }
    }

    private void write(String chunk) {
        // in a transaction of its own
    }
}
// end::import
