package org.example.docs;

import java.time.Duration;
import java.util.List;

import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What docs/recipes.md shows of a document that one user edits: each request of the page may reach another instance.
 */
@TestPropertySource(properties = "spring.datasource.url=jdbc:h2:mem:editing;DB_CLOSE_DELAY=-1")
class EditingTests extends OnRedis {

    @Autowired
    private JdbcTemplate jdbc;

    private Editing here;
    private Editing there;

    @BeforeEach
    void twoInstances() {
        jdbc.execute("drop table if exists document");
        jdbc.execute("create table document (id int primary key, text varchar(40), version int, editor varchar(20))");
        jdbc.update("insert into document values (1, 'draft', 0, null), (2, 'other', 0, null)");
        redis("FLUSHALL");
        here = new Editing(registry, jdbc);
        there = new Editing(anotherInstance(), jdbc);
    }

    @Test
    void oneUserEditsAndAnotherOneSeesWho() throws Exception {
        String claim = here.open(1, "ann");
        assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> there.open(1, "bob"));
        assertThat(jdbc.queryForObject("select editor from document where id = 1", String.class))
                .isEqualTo("ann");
        claim = there.stillEditing(claim);
        claim = here.stillEditing(claim);
        there.save(claim, 1, "ann's", 0);
        assertThat(text(1)).isEqualTo("ann's");
        assertThat(there.open(1, "bob")).isNotEmpty();
    }

    @Test
    void anEditorWhoWasAwayForTooLongDoesNotSave() throws Exception {
        String claim = here.open(1, "ann");
        redis("DEL", "lock:edit:1"); // as when the ttl had passed
        String next = there.open(1, "bob");
        assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> here.save(claim, 1, "ann's", 0));
        there.save(next, 1, "bob's", 0);
        assertThat(text(1)).isEqualTo("bob's");
    }

    @Test
    void theVersionRefusesWhatTheLockDoesNot() throws Exception {
        String claim = here.open(1, "ann");
        jdbc.update("update document set text = 'by an import', version = 1 where id = 1");
        assertThatExceptionOfType(OptimisticLockingFailureException.class)
                .isThrownBy(() -> here.save(claim, 1, "ann's", 0));
    }

    @Test
    void theClaimOfOneDocumentSavesNoOtherOne() throws Exception {
        String claim = here.open(1, "ann");
        assertThatIllegalArgumentException().isThrownBy(() -> there.save(claim, 2, "ann's", 0));
        assertThat(text(2)).isEqualTo("other");
    }

    private String text(int document) {
        List<String> texts = jdbc.queryForList("select text from document where id = ?", String.class, document);
        return texts.get(0);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}

class Editing {

    // tag::editing
    private static final LockOptions EDIT = LockOptions.defaults()
            .withGroup("edit")
            .withTtl(Duration.ofMinutes(2))
            .withWaitTime(Duration.ZERO);

    String open(int document, String user) throws InterruptedException { // refused: show the column editor
        try (Lease lease = locks.acquire("edit:" + document, EDIT)) {
            jdbc.update("update document set editor = ? where id = ?", user, document);
            return lease.handOver(); // the page keeps it, and gets a new one every minute; then close does nothing
        }
    }

    String stillEditing(String claim) throws InterruptedException {
        return locks.takeOver(claim, EDIT).handOver();
    }

    void save(String claim, int document, String text, int version) throws InterruptedException {
        try (Lease lease = locks.takeOver(claim, EDIT)) { // LockLostException: show the user both texts
            if (!lease.name().equals("edit:" + document)) {
                throw new IllegalArgumentException("the claim is that of another document");
            }
            int saved = jdbc.update(
                    "update document set text = ?, version = version + 1, editor = null where id = ? and version = ?",
                    text,
                    document,
                    version);
            if (saved == 0) {
                throw new OptimisticLockingFailureException("document " + document + " was changed without the lock");
            }
        }
    }
    // end::editing

    private final LockRegistry locks;
    private final JdbcTemplate jdbc;

    Editing(LockRegistry locks, JdbcTemplate jdbc) {
        this.locks = locks;
        this.jdbc = jdbc;
    }
}
