package io.github.lockboot.spec;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Each rule that is broken in a model, and some that no model has, can be broken in the code. */
class MutantTests {

    private static final String NAME = "io.github.lockboot.engine.Name";
    private static final String UNLOCK = "io/github/lockboot/redis/unlock.lua";

    static List<String> names() {
        return Mutant.names();
    }

    @Test
    void eachRuleThatIsBrokenInAModelHasAPatch() {
        assertThat(names()).containsAll(Mutant.ofModels());
    }

    @ParameterizedTest
    @MethodSource("names")
    void aRuleIsBrokenInTheCode(String name) throws Exception {
        Mutant mutant = Mutant.of(name);
        try (Stream<Path> files = Files.walk(mutant.folder())) {
            assertThat(files.filter(Files::isRegularFile)).isNotEmpty();
        }
    }

    @Test
    void aMutantIsLoadedInPlaceOfTheLibrary() throws Exception {
        Mutant mutant = Mutant.of("heed-older-answer");
        Class<?> broken = mutant.loader().loadClass(NAME);
        assertThat(broken.getProtectionDomain().getCodeSource().getLocation())
                .isEqualTo(mutant.folder().toUri().toURL());
        assertThat(broken).isNotSameAs(Class.forName(NAME));
        try (InputStream script = Mutant.of("unlock-all").loader().getResourceAsStream(UNLOCK)) {
            assertThat(new String(script.readAllBytes(), StandardCharsets.UTF_8))
                    .contains("lock.holders, place =");
        }
    }

    @Test
    void aPatchThatDoesNotApplyIsNamed(@TempDir Path folder) throws Exception {
        String patch = Files.readString(Path.of("mutants/unlock-all.patch"));
        Path other = folder.resolve("other.patch");
        Files.writeString(other, patch.replace("lock.grant_number", "lock.number"));
        assertThatThrownBy(() -> Mutant.of(other)).hasMessageStartingWith("other.patch does not apply to unlock.lua");
    }
}
