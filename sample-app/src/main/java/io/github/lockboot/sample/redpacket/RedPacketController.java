package io.github.lockboot.sample.redpacket;

import java.util.Map;

import io.github.lockboot.sample.BadParameterException;
import io.github.lockboot.sample.Ids;
import io.github.lockboot.sample.Money;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/red-packets")
class RedPacketController {

    private final RedPacketService redPackets;

    RedPacketController(RedPacketService redPackets) {
        this.redPackets = redPackets;
    }

    @PostMapping
    Map<String, String> create(
            @RequestParam Money amount,
            @RequestParam
                    @Min(value = 1, message = "must be at least 1")
                    @Max(value = 10_000, message = "must be at most 10000")
                    int count) {
        if (count > amount.cents()) {
            throw new BadParameterException(
                    "count",
                    "must be at most " + amount.cents() + ", since every part of " + amount + " gets at least 0.01");
        }
        return Map.of("id", redPackets.create(amount, count));
    }

    @PostMapping("/{redPacketId}/grab")
    Grab grab(
            @PathVariable @Size(max = 64, message = "must have at most 64 characters") String redPacketId,
            @RequestParam @Pattern(regexp = Ids.FORM, message = Ids.REQUIREMENT) String openid) {
        return redPackets.grab(wellFormed(redPacketId), openid);
    }

    @GetMapping("/{redPacketId}")
    RedPacket get(@PathVariable @Size(max = 64, message = "must have at most 64 characters") String redPacketId) {
        return redPackets.get(wellFormed(redPacketId));
    }

    /** Any other id is unknown without asking, and never becomes part of a lock's name. */
    private static String wellFormed(String redPacketId) {
        if (!redPacketId.matches("[0-9a-f]{32}")) {
            throw new UnknownRedPacketException(redPacketId);
        }
        return redPacketId;
    }
}
