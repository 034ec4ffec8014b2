package org.example.docs.first;

// tag::service
import io.github.lockboot.DistributedLock;
import org.springframework.stereotype.Service;

@Service
class OrderService {

    @DistributedLock(name = "order", key = "#orderId")
    public String pay(String orderId) {
        // one call at a time for each order, in all instances: a second caller waits, and runs
        // after the first, so check here whether the order is paid; after lock.wait-time
        // (10 s by default) it gets LockNotAcquiredException instead
        return orderId + " is paid";
    }
}
// end::service

/** The README's first lines, whole: this file imports nothing else. */
class FirstLockTests extends FirstLines {

    @org.springframework.beans.factory.annotation.Autowired
    private OrderService service;

    @Override
    String pay(String orderId) {
        return service.pay(orderId);
    }
}
