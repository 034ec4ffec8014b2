package io.github.lockboot.sample.redpacket;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.github.lockboot.sample.Money;
import org.jspecify.annotations.Nullable;

/** What an openid got: its money, or the message that nothing is left. */
@JsonInclude(JsonInclude.Include.NON_NULL)
record Grab(@Nullable Money money, @Nullable String msg) {

    static final Grab SOLD_OUT = new Grab(null, "sold out");

    static Grab of(Money money) {
        return new Grab(money, null);
    }
}
