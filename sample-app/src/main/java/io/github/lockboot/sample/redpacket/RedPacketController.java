package io.github.lockboot.sample.redpacket;

import java.util.Map;

import io.github.lockboot.sample.Ids;
import io.github.lockboot.sample.Money;
import io.github.lockboot.sample.redpacket.RedPacketService.Grab;
import io.github.lockboot.sample.redpacket.RedPacketService.RedPacket;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Pattern;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
@RequestMapping("/red-packets")
class RedPacketController {

    private static final String ID = "[0-9a-f]{32}";

    private final RedPacketService redPackets;

    RedPacketController(RedPacketService redPackets) {
        this.redPackets = redPackets;
    }

    @PostMapping
    Map<String, String> create(@RequestParam Money amount, @RequestParam @Min(1) @Max(10_000) int count) {
        if (count > amount.cents()) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST, "'count' must be at most " + amount.cents() + ": every part gets a cent.");
        }
        return Map.of("id", redPackets.create(amount, count));
    }

    @PostMapping("/{redPacketId}/grab")
    Grab grab(
            @PathVariable @Pattern(regexp = ID) String redPacketId,
            @RequestParam @Pattern(regexp = Ids.FORM) String openid) {
        return redPackets.grab(redPacketId, openid);
    }

    @GetMapping("/{redPacketId}")
    RedPacket get(@PathVariable @Pattern(regexp = ID) String redPacketId) {
        return redPackets.get(redPacketId);
    }
}
