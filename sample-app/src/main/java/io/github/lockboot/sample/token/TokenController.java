package io.github.lockboot.sample.token;

import java.util.Map;

import io.github.lockboot.sample.NeedsLocks;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/token")
@NeedsLocks
class TokenController {

    private final TokenService tokens;

    TokenController(TokenService tokens) {
        this.tokens = tokens;
    }

    @GetMapping
    Map<String, String> get(@RequestParam(defaultValue = "blocking") String mode) throws InterruptedException {
        return Map.of("token", tokens.get(mode));
    }

    @PostMapping("/expire")
    Map<String, Boolean> expire() {
        return Map.of("expired", tokens.expire());
    }

    @GetMapping("/stats")
    TokenService.Stats stats() {
        return tokens.stats();
    }
}
