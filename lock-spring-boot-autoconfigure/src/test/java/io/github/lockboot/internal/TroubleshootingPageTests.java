package io.github.lockboot.internal;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The address in a message is that of the page of the same version: a text may have gone from a later one. */
class TroubleshootingPageTests {

    private static final String TREES = "https://github.com/lockboot/lock-spring-boot-starter/blob/";

    @ParameterizedTest
    @ValueSource(strings = {"0.1.0", "1.0.0-RC1"})
    void aReleaseHasThePageOfItsTag(String version) {
        assertThat(Troubleshooting.pageOf(version)).isEqualTo(TREES + "v" + version + "/docs/troubleshooting.md#");
    }

    @Test
    void aSnapshotAndAnUnknownVersionHaveTheNewestPage() {
        assertThat(Troubleshooting.pageOf("0.2.0-SNAPSHOT"))
                .isEqualTo(Troubleshooting.pageOf((String) null))
                .isEqualTo(TREES + "main/docs/troubleshooting.md#");
    }
}
