package org.example.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.util.stream.Stream;

import io.github.lockboot.fixture.AclUser;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The page gives the rule of {@link AclUser}, which {@code AclRuleTests} shows to be enough and as short as it can be. */
@Tag("this-build")
class DocumentedAclRuleTests {

    @Test
    void theDocumentationGivesThisRule() throws IOException {
        String documented = Files.readString(Page.ROOT.resolve("docs/operations.md"));
        String command = "ACL SETUSER locks on >secret -@all ";
        String rule = documented.substring(documented.indexOf(command) + command.length());
        assertThat(rule.substring(0, rule.indexOf("```")).strip().split("\\s+"))
                .containsExactlyInAnyOrder(Stream.concat(AclUser.REACH.stream(), AclUser.COMMANDS.stream())
                        .toArray(String[]::new));
        assertThat(documented)
                .contains("`" + String.join(" ", AclUser.IN_A_CLUSTER) + "`")
                .contains("`" + String.join(" ", AclUser.TRACKING) + "`")
                .contains("`+" + AclUser.INTRODUCTION + "`");
    }
}
