package io.github.lockboot.sample.payment;

import java.util.Map;

import io.github.lockboot.sample.Ids;
import io.github.lockboot.sample.Money;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.payment.PaymentService.Account;
import io.github.lockboot.sample.payment.PaymentService.Mishap;
import io.github.lockboot.sample.payment.PaymentService.Payment;
import io.github.lockboot.sample.payment.PaymentService.Report;
import jakarta.validation.constraints.Pattern;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/accounts/{id}")
@NeedsLocks
class PaymentController {

    private final PaymentService payments;

    PaymentController(PaymentService payments) {
        this.payments = payments;
    }

    @PutMapping
    Map<String, Account> open(@PathVariable @Pattern(regexp = Ids.FORM) String id, @RequestParam Money balance) {
        payments.open(id, balance);
        return payments.get(id);
    }

    @GetMapping
    Map<String, Account> get(@PathVariable @Pattern(regexp = Ids.FORM) String id) {
        return payments.get(id);
    }

    @PostMapping("/payments")
    Payment pay(
            @PathVariable @Pattern(regexp = Ids.FORM) String id,
            @RequestParam Money money,
            @RequestParam @Pattern(regexp = Ids.FORM) String orderId,
            @RequestParam(defaultValue = "lock") String mode,
            @RequestParam(defaultValue = "NONE") Mishap mishap)
            throws InterruptedException {
        return payments.pay(id, mode, orderId, money, mishap);
    }

    @PostMapping("/crashes")
    void crash(@PathVariable @Pattern(regexp = Ids.FORM) String id, @RequestParam String mode)
            throws InterruptedException {
        payments.crash(id, mode);
    }

    @GetMapping("/report")
    Map<String, Report> report(@PathVariable @Pattern(regexp = Ids.FORM) String id) {
        return payments.report(id);
    }
}
